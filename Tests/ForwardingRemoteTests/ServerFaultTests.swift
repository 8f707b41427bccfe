// SPDX-License-Identifier: Apache-2.0
#if NATS
  import Forwarding
  import ForwardingNATS
  import ForwardingRemote
  import Foundation
  import ForwardingTestSupport
  import RemoteTestSupport
  import Testing

  @Suite(
    "Servers and hosts that die", .serialized, .timeLimit(.minutes(60)),
    .enabled(if: NATSServer.program != nil, "no nats-server is installed"))
  struct ServerFaultTests {
    private let name = "tally \(UInt32.random(in: 0 ... .max))"

    @Test(
      "each of 10,000 calls ends, and none is performed twice, when the server is killed meanwhile")
    func killedServer() async throws {
      let server = try NATSServer()
      let host = RemoteHost(try server.connect(), as: name)
      let tally = Tally()
      try host.expose(tally, Tally.interface())
      let here = try server.connect()
      let remote = RemoteProxy(try Tally.interface(), here, at: name, deadline: .seconds(5))
      let endings = Endings()
      async let calls: Void = endings.send(0..<10_000, to: remote, atATime: 200)
      await endings.each([2000, 5000]) {
        server.kill()
        #expect(throws: Never.self) { try server.start() }
      }
      await calls
      #expect(endings.sum == 10_000)
      #expect(Set(endings.others.keys).isSubset(of: ["interrupted", "timed out", "unreachable"]))
      #expect(endings.others["interrupted", default: 0] > 0)
      #expect(tally.count >= endings.answered.count)
      #expect(tally.twice == 0)
      let counts = remote.statistics
      #expect(counts.answered == endings.answered.count)
      #expect(counts.answered + counts.failed == 10_000)
      // Calls work as before.
      remote.deadline = .seconds(3000)
      // The host may not have reached the server again.
      try await HostProcess.wait(for: remote)
      #expect(try await Tally.take(10_000, on: remote) == 10_000)
      host.close()
    }

    @Test("deadlines hold while a host is stopped, and its late answers do no harm")
    func stopped() async throws {
      let server = try NATSServer()
      let process = try HostProcess(server.url, as: name)
      let here = try server.connect()
      let remote = RemoteProxy(try Tally.interface(), here, at: name, deadline: .seconds(3000))
      try await HostProcess.wait(for: remote)
      let before = remote.statistics
      let endings = Endings()
      await endings.send(0..<100, to: remote, atATime: 10)
      process.standStill()
      remote.deadline = .milliseconds(500)
      let begin = ContinuousClock.now
      await endings.send(100..<200, to: remote, atATime: 100)
      let time = ContinuousClock.now - begin
      #expect(time >= .milliseconds(500) && time < .seconds(60), "\(time)")
      #expect(endings.others == ["timed out": 100])
      process.signal(SIGCONT)
      remote.deadline = .seconds(3000)
      await endings.send(200..<300, to: remote, atATime: 10)
      #expect(endings.answered == Set(0..<100).union(200..<300))
      // Calls that were held up were performed or expired; none was performed twice.
      #expect(try await Tally.twice(on: remote) == 0)
      let count = try await Tally.count(on: remote)
      #expect(count >= 200 && count <= 300)
      #expect(remote.statistics.failed - before.failed == 100)
      #expect(remote.statistics.answered - before.answered == 202)
      process.end()
    }

    @Test(
      "large calls end near their deadline while a server is stopped, and work when it continues")
    func stoppedServer() async throws {
      let server = try NATSServer()
      // libnats delays calls while it reconnects, so this connection has the default timeouts.
      let bank = try Bank((server.connect(), NATSTransport(server.url)))
      let remote = bank.remote
      remote.deadline = .seconds(1)
      #expect(try await Vault.name("Ann", on: remote) == "Ann's")
      server.signal(SIGSTOP)
      let ended = LockedValue(0)
      let begin = ContinuousClock.now
      let text = String(repeating: "x", count: 500_000)
      let calls = (0..<60).map { _ in
        Task.detached {
          await #expect(throws: RemoteError.self) {
            _ = try await Vault.name(text, on: remote).count
          }
          ended.withLock { $0 += 1 }
        }
      }
      // A separate thread, as all threads of tasks may be blocked.
      await withCheckedContinuation { continuation in
        beginThread {
          while ended.withLock({ $0 }) < 60, ContinuousClock.now - begin < .seconds(40) {
            usleep(10_000)
          }
          server.signal(SIGCONT)
          continuation.resume()
        }
      }
      let time = ContinuousClock.now - begin
      #expect(time < .seconds(30), "\(time)")
      for call in calls { await call.value }
      remote.deadline = .seconds(3000)
      try await eventually { (try? await Vault.name("Ann", on: remote)) == "Ann's" }
      let counts = remote.statistics
      #expect(counts.asked > 60)
      #expect(counts.asked == counts.answered + counts.failed + counts.refused)
    }

    @Test(
      "three of five hosts die during a gathering: the others answer")
    func dyingHosts() async throws {
      let server = try NATSServer()
      let hosts = try (0..<5).map { _ in try HostProcess(server.url, as: name) }
      let here = try server.connect()
      let all = RemoteProxy(try Tally.interface(), here, at: name, deadline: .seconds(3000))
      func reached() async throws -> Int {
        try await all.gather(expecting: 5, within: .milliseconds(200)) {
          try await Tally.meet(nil, on: $0)
        }.answers.count
      }
      while try await reached() < 5 {}
      let folder = try TemporaryFolder()
      let before = try await all.gather(expecting: 5) { try await Tally.meet(nil, on: $0) }
      let processes = before.values
      try #require(Set(processes) == Set(hosts.map(\.number)))
      let begin = ContinuousClock.now
      async let asked = all.gather(within: .seconds(15)) {
        try await Tally.meet(folder.path, on: $0)
      }
      // All hosts have received the message, and have not answered.
      try await eventually {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).count >= 5
      }
      for process in processes[..<3] { kill(process, SIGKILL) }
      #expect(FileManager.default.createFile(atPath: folder.path("go on"), contents: nil))
      let after = try await asked
      let time = ContinuousClock.now - begin
      #expect(time >= .seconds(15) && time < .seconds(100), "\(time)")
      #expect(Set(after.values) == Set(processes[3...]))
      for host in hosts { host.end() }
    }
  }
#endif
