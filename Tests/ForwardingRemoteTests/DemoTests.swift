// SPDX-License-Identifier: Apache-2.0
#if Macros && NATS
  import Foundation
  import RemoteTestSupport
  import Testing

  /// `make demo-remote`, with the program that was built with the tests.
  @Suite("The demo of calls to other processes", .timeLimit(.minutes(10)))
  struct DemoTests {
    /// All processes that the demo starts have this in their environment.
    private let mark = "FORWARDING_DEMO=\(UInt64.random(in: 0 ... .max))"
    private let output = Pipe()

    private static let program: String = {
      let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
      return URL(fileURLWithPath: own).deletingLastPathComponent()
        .appendingPathComponent("RemoteStations").path
    }()

    private func started(_ program: String = program) throws -> Process {
      let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
      let process = Process()
      process.executableURL = root.appendingPathComponent("Scripts/demo-remote.sh")
      process.arguments = [program]
      let parts = mark.split(separator: "=").map(String.init)
      process.environment = ProcessInfo.processInfo.environment.merging([parts[0]: parts[1]]) { $1 }
      process.standardOutput = output
      // A thread of a pool blocks signals, and a new process would inherit that.
      var (none, before) = (sigset_t(), sigset_t())
      sigemptyset(&none)
      pthread_sigmask(SIG_SETMASK, &none, &before)
      defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
      try process.run()
      return process
    }

    /// The processes of the demo.
    private func processes() throws -> [pid_t] {
      try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }
        .filter { number in
          let bytes = FileManager.default.contents(atPath: "/proc/\(number)/environ")
          return bytes.map { String(decoding: $0, as: UTF8.self).contains(mark) } ?? false
        }
    }

    /// Waits until all processes have ended, and returns those that do not end, after killing them.
    private func left() throws -> [pid_t] {
      let end = ContinuousClock.now + .seconds(300)
      while try !processes().isEmpty, ContinuousClock.now < end { usleep(20_000) }
      let left = try processes()
      for process in left { kill(process, SIGKILL) }
      return left
    }

    private func line() -> String {
      var line = ""
      while !line.hasSuffix("\n") {
        let byte = output.fileHandleForReading.readData(ofLength: 1)
        if byte.isEmpty { break }
        line += String(decoding: byte, as: UTF8.self)
      }
      return line
    }

    @Test(
      "the demo prints its story, and leaves no process behind",
      .enabled(if: NATSServer.program != nil, "needs nats-server: Scripts/setup.sh nats"))
    func story() throws {
      let process = try started()
      let text = String(
        decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      #expect(try left() == [])
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      #expect(
        text == """
          Three weather stations, each in a process of its own.

          Asked: try await north.face.temperature()
            north: 12.5
            east: 14.0
            south: 19.5
          An error crosses as a code and a text: north.face.forecast(for: "someday")
            the target threw 7: nobody knows someday
          One message to many, here and elsewhere: everyone.face.note("a storm is coming")
            here: ["a storm is coming"]
            north: ["a storm is coming"]
            east: ["a storm is coming"]
            south: ["a storm is coming"]
          All hosts of one name: stations.gather { try await $0.name() }
            ["east", "north", "south"], silent: 0
          The process of east is killed.
            gathered: ["north", "south"], silent: ["east"]
          What became of it at each: everyone.awaitedMessages.temperature.report()
            here: answered 21.0
            north: answered 12.5
            east: cannot be reached: no host listens to east.WeatherStationProxy
            south: answered 19.5

          """)
    }

    @Test(
      "the demo ends all processes that it started when a signal ends it in the middle",
      .enabled(if: NATSServer.program != nil, "needs nats-server: Scripts/setup.sh nats"),
      arguments: [SIGINT, SIGTERM])
    func interrupted(signal: Int32) throws {
      // A version of the demo that does not end.
      let program = FileManager.default.temporaryDirectory
        .appendingPathComponent("forwarding-demo-\(UInt64.random(in: 0 ... .max))").path
      defer { try? FileManager.default.removeItem(atPath: program) }
      let text = """
        #!/bin/sh
        [ "$1" = serve ] && exec "\(Self.program)" "$@"
        echo begun
        exec sleep 10000
        """
      try text.write(toFile: program, atomically: true, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
      let process = try started(program)
      #expect(line() == "begun\n")
      // The script, the server, three stations, and this process. The environment of a process
      // cannot be read while it executes another program.
      let end = ContinuousClock.now + .seconds(300)
      while try processes().count != 6, ContinuousClock.now < end { usleep(20_000) }
      #expect(try processes().count == 6)
      kill(process.processIdentifier, signal)
      // This waits for all processes that have the demo's files open, not only for the script.
      #expect(try left() == [])
      process.waitUntilExit()
      #expect(process.terminationStatus == 128 + signal)
    }
  }
#endif
