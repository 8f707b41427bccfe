// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import TestedBenchmarks
import Testing

@Suite(
  "Growth past one machine", .timeLimit(.minutes(10)),
  .notEmulated("simulations of many calls, which are the same on each machine"))
struct RemoteGrowthTests {
  @Test(
    "waiting times in the simulation agree with queueing theory", arguments: [0.3, 0.5, 0.8, 0.9])
  func theory(use: Double) {
    // One processor, random arrivals, the same service time for each call.
    var growth = RemoteGrowth(sender: 0.001, host: 0, server: 0)
    growth.processors = 1
    growth.callsOfEach = use / 0.001
    #expect(abs(growth.use(of: .senders) - use) < 1e-9)
    // The busier the processor, the more calls the mean needs.
    let mean = growth.simulate(calls: use < 0.9 ? 50_000 : 200_000).mean
    let expected = 0.001 * (1 + use / (2 * (1 - use)))
    #expect(abs(mean / expected - 1) < 0.05, "\(mean), and \(expected) by theory")
  }

  @Test("a call that never waits takes the sum of the times of its parts")
  func alone() {
    var growth = RemoteGrowth(sender: 0.001, host: 0.002, server: 0.0005)
    growth.callsOfEach = 0.0001
    let times = growth.simulate(calls: 100)
    #expect(abs(times.mean - 0.005) < 1e-6 && abs(times.ninetyNinth - 0.005) < 1e-6)
  }

  @Test("the part that is saturated first is found", arguments: RemoteGrowth.Part.allCases)
  func first(part: RemoteGrowth.Part) {
    var growth = RemoteGrowth(sender: 1e-9, host: 1e-9, server: 1e-10)
    growth.bytes = 0.001
    (growth.hosts, growth.targets, growth.callsOfEach) = (10, 10, 100)
    switch part {
    case .senders: growth.sender = 1e-4
    case .hosts: growth.host = 1e-2
    case .server: growth.server = 1e-4
    case .network: growth.bytes = 1e6
    case .connections: growth.hosts = 60_000
    }
    #expect(growth.first.part == part)
    if part == .connections { return }
    growth.callsOfEach = growth.mostOfEach
    #expect(abs(growth.first.use - 1) < 1e-9)
  }

  @Test("a gathering is one message in, and an answer from each host")
  func gathering() {
    var growth = RemoteGrowth(sender: 0, host: 0, server: 1e-6)
    growth.hosts = 3
    growth.callsOfEach = 100
    growth.answers = 3
    #expect(growth.calls == 100 && growth.messages == 1000)
  }

  @Test("past saturation, a queue grows as long as calls arrive")
  func overload() {
    var growth = RemoteGrowth(sender: 0.001, host: 0, server: 0)
    growth.processors = 1
    growth.callsOfEach = 2000
    #expect(growth.simulate(calls: 20_000).mean > 2 * growth.simulate(calls: 5000).mean)
  }

  @Test("the page has the table of the recorded run")
  func page() throws {
    let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let recorded = try JSONDecoder().decode(
      Report.self,
      from: Data(
        contentsOf: root.appendingPathComponent("Benchmarks/Results/linux-x86_64.json")))
    let page = try String(
      contentsOf: root.appendingPathComponent("Documentation/Growth.md"), encoding: .utf8)
    let growth = try #require(RemoteGrowth(recorded))
    #expect(page.contains(growth.table))
  }
}
