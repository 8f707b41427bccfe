// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote
import ForwardingWire
import Invocations
import RemoteTestSupport
import Synchronization
import Testing

/// One of many targets, in this process or in another one.
private final class Worker: MethodDeclaring, Sendable {
  enum Manner: String, CaseIterable { case answers, fails, hides, sleeps }

  struct Tired: RemoteFailure {
    var remoteCode: Int32 { 17 }
    var remoteText: String { "tired of it" }
  }
  struct Secret: Error { var password = "1234" }

  let manner: Manner
  let begun = Atomic(0)
  let cancelled = Atomic(0)

  static let work = try! AsyncMessage<Int32, Int32>("workerWork:")

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("workerWork:") { (worker: Worker, number: Int32) async throws in
      try await worker.work(number)
    }
  }

  init(_ manner: Manner) { self.manner = manner }

  private func work(_ number: Int32) async throws -> Int32 {
    begun.add(1, ordering: .relaxed)
    switch manner {
    case .answers: return number
    case .fails: throw Tired()
    case .hides: throw Secret()
    case .sleeps:
      do { try await Task.sleep(for: .seconds(600)) } catch {
        cancelled.add(1, ordering: .relaxed)
        throw error
      }
      return number
    }
  }

  static func interface() throws -> Interface {
    var interface = Interface("workers")
    try interface.allow(work)
    return interface
  }
}

@Suite("Objects of other processes among many targets", .timeLimit(.minutes(60)))
struct RemoteMulticastTests {
  private static let lanes = Lane.allCases.filter { $0 != .blockingForAMoment }

  /// One worker in this process, and one of each manner in another one, with their hosts.
  private final class Team {
    let own = Worker(.answers)
    let workers = Worker.Manner.allCases.map(Worker.init)
    let proxy = MulticastProxy()
    let hosts: [RemoteHost]
    let ends: (any Transport, any Transport)
    private let name = "team \(UInt32.random(in: 0 ... .max))"
    private var remotes: [RemoteProxy] = []

    init(_ way: Way) throws {
      ends = try way.ends()
      let there = ends.0
      hosts = workers.map { [name] in RemoteHost(there, as: "\(name) \($0.manner)") }
      for (host, worker) in zip(hosts, workers) { try host.expose(worker, Worker.interface()) }
      proxy.add(own)
    }

    deinit { for host in hosts { host.close() } }

    func worker(_ manner: Worker.Manner) -> Worker { workers.first { $0.manner == manner }! }

    /// Adds a worker of another process or, without a manner, a name that no host has.
    func add(_ manner: Worker.Manner?, on lane: DeliveryLane) throws -> RemoteProxy {
      let remote = RemoteProxy(
        try Worker.interface(), ends.1, at: "\(name) \(manner?.rawValue ?? "nobody")",
        deadline: .seconds(3000))
      remotes.append(remote)
      proxy.add(remote, on: lane)
      return remote
    }
  }

  @Test(
    "each target has its own entry: answered, failed with its text, late, refused, unreachable",
    arguments: Way.allCases, lanes)
  func report(way: Way, lane: Lane) async throws {
    for concurrently in [false, true] {
      let team = try Team(way)
      for manner in [Worker.Manner.answers, .fails, .hides] {
        _ = try team.add(manner, on: lane.on())
      }
      try team.add(.sleeps, on: lane.on()).deadline = .seconds(3)
      _ = try team.add(nil, on: lane.on())
      let report = try await Worker.work.message.report(
        7, on: team.proxy, concurrently: concurrently)
      let errors = report.entries.map { $0.outcome.error as? RemoteError }.map(\.?.plain)
      #expect(report.answers == [7, 7])
      #expect(
        errors == [
          nil, nil, .failed(code: 17, text: "tired of it"), .failed(code: 0, text: ""), .timedOut,
          .unreachable("no host listens"),
        ])
      // The late call is cancelled on its host.
      try await eventually { team.worker(.sleeps).cancelled.load(ordering: .relaxed) == 1 }
    }
  }

  @Test(
    "a cancelled sender waits for no target, and all calls in progress are cancelled",
    arguments: Way.allCases, lanes)
  func cancelled(way: Way, lane: Lane) async throws {
    let team = try Team(way)
    _ = try team.add(.answers, on: lane.on())
    for _ in 0..<3 { _ = try team.add(.sleeps, on: lane.on()) }
    let proxy = team.proxy
    let task = Task {
      try await Worker.work.message.report(7, on: proxy, concurrently: true).entries.map(\.outcome)
    }
    let sleeper = team.worker(.sleeps)
    try await eventually { sleeper.begun.load(ordering: .relaxed) == 3 }
    task.cancel()
    let outcomes = try await task.value
    // The answer of another process may be in transit when the sender is cancelled, or its lane not begun.
    #expect(outcomes[0].isAnswer)
    let other = outcomes[1].error
    let isLost = if case ForwardingError.cancelled? = other { true } else { false }
    #expect(
      outcomes[1].isAnswer || other as? RemoteError == .cancelled || other is CancellationError
        || isLost, "\(outcomes[1])")
    #expect(
      outcomes.dropFirst(2).map { $0.error as? RemoteError }
        == [.cancelled, .cancelled, .cancelled])
    try await eventually { sleeper.cancelled.load(ordering: .relaxed) == 3 }
  }
}
