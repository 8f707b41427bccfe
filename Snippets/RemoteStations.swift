// SPDX-License-Identifier: Apache-2.0
// Objects of one protocol in several processes: called with and without an answer, called all at
// once, and as targets of one multicast message. `make demo-remote` starts a NATS server and four
// processes of this program, and ends them. Needs the traits `Macros` and `NATS`.
import Forwarding

#if Macros && NATS
  import Foundation
  import ForwardingNATS
  import ForwardingRemote

  @Forwardable
  protocol WeatherStation: AnyObject, Sendable {
    func name() async throws -> String
    func temperature() async throws -> Double
    func forecast(for day: String) async throws -> String
    func note(_ text: String)
    func notes() async throws -> [String]
  }

  /// An error that may be sent to the caller.
  struct UnknownDay: RemoteFailure {
    let day: String
    var remoteCode: Int32 { 7 }
    var remoteText: String { "nobody knows \(day)" }
  }

  final class Station: WeatherStation {
    private let ownName: String
    private let degrees: Double
    private let lines = Lines()

    init(_ name: String, _ degrees: Double) { (ownName, self.degrees) = (name, degrees) }
    func name() -> String { ownName }
    func temperature() -> Double { degrees }
    func forecast(for day: String) throws -> String {
      guard day == "tomorrow" else { throw UnknownDay(day: day) }
      return degrees > 15 ? "sun" : "rain"
    }
    func note(_ text: String) { lines.add(text) }
    func notes() -> [String] { lines.all }
  }

  /// Lines that threads share.
  final class Lines: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []
    func add(_ line: String) { lock.withLock { lines.append(line) } }
    var all: [String] { lock.withLock { lines } }
  }

  // MARK: The process of a station

  func serve(_ name: String, _ degrees: Double, _ url: String) async throws {
    let transport = try NATSTransport(url)
    let station = Station(name, degrees)
    // One host has the station's own name; the other a name that all stations share, so that all
    // can be called at once.
    let hosts = [RemoteHost(transport, as: name), RemoteHost(transport, as: "stations")]
    for host in hosts { try host.expose(station, as: WeatherStationProxy.self) }
    while true { try await Task.sleep(for: .seconds(3600)) }
  }

  // MARK: The process that calls the stations

  /// Prints a line and flushes it, so that a pipe gets it at once.
  func say(_ line: String) {
    print(line)
    fflush(nil)
  }

  let names = ["north", "east", "south"]

  func tell(_ url: String, toKill east: Int32) async throws {
    let transport = try NATSTransport(url)
    func station(_ name: String) throws -> Remote<WeatherStationProxy> {
      try Remote(transport, at: name, deadline: .seconds(5))
    }
    let stations = try station("stations")
    // The processes have just been started, so wait until all answer.
    let end = ContinuousClock.now + .seconds(30)
    while try await stations.ping(expecting: 3) < 3 {
      guard ContinuousClock.now < end else { throw RemoteError.timedOut }
      try await Task.sleep(for: .milliseconds(20))
    }
    let remotes = try names.map(station)

    say("Three weather stations, each in a process of its own.\n")
    say("Asked: try await north.face.temperature()")
    for (name, remote) in zip(names, remotes) {
      say("  \(name): \(try await remote.face.temperature())")
    }

    say("An error crosses as a code and a text: north.face.forecast(for: \"someday\")")
    do { say(try await remotes[0].face.forecast(for: "someday")) } catch { say("  \(error)") }

    say("One message to many, here and elsewhere: everyone.face.note(\"a storm is coming\")")
    let here = Station("here", 21)
    let everyone = Multicast<WeatherStationProxy>()
    everyone.add(here)
    for remote in remotes { everyone.add(remote.face) }
    everyone.face.note("a storm is coming")
    say("  here: \(here.notes())")
    for (name, remote) in zip(names, remotes) {
      say("  \(name): \(try await remote.face.notes())")
    }

    say("All hosts of one name: stations.gather { try await $0.name() }")
    let all = try await stations.gather(expecting: 3) { try await $0.name() }
    let numbers = all.answers.map { ($0.host, (try? $0.result.get()) ?? "?") }
    let byNumber = Dictionary(uniqueKeysWithValues: numbers)
    say("  \(all.values.sorted()), silent: \(all.silent.count)")

    say("The process of east is killed.")
    kill(east, SIGKILL)
    // Waits until the server has noticed that the host is gone.
    while try await remotes[1].ping(within: .milliseconds(100)) > 0 {}
    let rest = try await stations.gather(expecting: 3, within: .milliseconds(300)) {
      try await $0.name()
    }
    say("  gathered: \(rest.values.sorted()), silent: \(rest.silent.map { byNumber[$0] ?? "?" })")

    say("What became of it at each: everyone.awaitedMessages.temperature.report()")
    let report = try await everyone.awaitedMessages.temperature.report(delivery: .concurrent)
    for (name, entry) in zip(["here"] + names, report.entries) {
      let error = entry.outcome.error.map { "\($0)" }
      say("  \(name): \(entry.answer.map { "answered \($0)" } ?? error ?? "\(entry.outcome)")")
    }
    transport.close()
  }

  let words = CommandLine.arguments.dropFirst()
  do {
    switch (words.first, words.count) {
    case ("serve", 4): try await serve(words[2], Double(words[3]) ?? 0, words[4])
    case ("tell", 3): try await tell(words[2], toKill: Int32(words[3]) ?? 0)
    default: say("Scripts/demo-remote.sh starts this, with a server and others of its kind.")
    }
  } catch {
    say("\(error)")
    exit(1)
  }
#else
  print("This needs NATS and macros: make demo-remote")
#endif
