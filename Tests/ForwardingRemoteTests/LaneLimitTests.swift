// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote
import Testing

@Suite("The limit of a host whose lane stands still", .timeLimit(.minutes(60)))
struct LaneLimitTests {
  /// The executor of a lane.
  private final class LaneExecutor: TaskExecutor {
    let queue: DispatchQueue
    init(_ queue: DispatchQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  enum Lane: CaseIterable {
    case queue, blocking, blockingForAMoment, executor

    func on(_ queue: DispatchQueue) -> DeliveryLane {
      switch self {
      case .queue: .queue(queue)
      case .blocking: .blocking(queue)
      case .blockingForAMoment: .blocking(queue, deadline: .milliseconds(1))
      case .executor: .executor(LaneExecutor(queue))
      }
    }
  }

  /// A host of a vault, whose lane stands still until the gate is opened.
  private struct Office {
    let host: RemoteHost
    let vault = Vault()
    let remote: RemoteProxy
    let gate = DispatchSemaphore(value: 0)

    init(_ lane: Lane) throws {
      let transport = InProcessTransport()
      let queue = DispatchQueue(label: "lane")
      host = RemoteHost(transport, as: "office")
      try host.expose(vault, Vault.interface(), on: lane.on(queue))
      remote = RemoteProxy(try Vault.interface(), transport, at: "office")
      queue.async { [gate] in gate.wait() }
    }
  }

  @Test(
    "calls that have ended before their turn count until their turn",
    arguments: Lane.allCases, [false, true])
  func ended(lane: Lane, suspends: Bool) async throws {
    let office = try Office(lane)
    defer { office.host.close() }
    let (host, remote) = (office.host, office.remote)
    host.limit = 10
    remote.deadline = .milliseconds(10)
    func call() async {
      if suspends {
        try? await Vault.sleep(0, on: remote)
      } else {
        _ = try? await Vault.deposit(1, on: remote)
      }
    }
    while host.statistics.asked < 10 { await call() }
    for _ in 0..<20 { await call() }
    #expect(host.statistics.asked == 10)
    office.gate.signal()
    remote.deadline = .seconds(3000)
    // The lane drops the calls, so there is room for others.
    var isAnswered = false
    while !isAnswered {
      do {
        _ = try await Vault.deposit(0, on: remote)
        isAnswered = true
      } catch { try await Task.sleep(for: .milliseconds(1)) }
    }
    #expect(office.vault.balance == 0)
    // Ten at a time, again and again: no place is lost.
    for _ in 0..<5 {
      try await withThrowingTaskGroup { group in
        for _ in 0..<10 {
          group.addTask {
            do { _ = try await Vault.deposit(0, on: remote) } catch {
              guard lane == .blockingForAMoment else { throw error }
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("a host that drains does not wait for calls that have ended")
  func draining() async throws {
    let office = try Office(.queue)
    office.remote.deadline = .milliseconds(1)
    await #expect(throws: RemoteError.timedOut) { try await Vault.deposit(1, on: office.remote) }
    try await office.host.drain(within: .seconds(3000))
    office.gate.signal()
    #expect(office.vault.balance == 0)
  }
}
