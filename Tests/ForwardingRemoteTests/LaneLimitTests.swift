// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote
import Testing

/// Where a target receives its messages.
enum Lane: String, CaseIterable {
  case caller, queue, blocking, blockingForAMoment, executor

  func on(_ queue: DispatchQueue = DispatchQueue(label: "lane")) -> DeliveryLane {
    switch self {
    case .caller: .caller
    case .queue: .queue(queue)
    case .blocking: .blocking(queue)
    case .blockingForAMoment: .blocking(queue, deadline: .milliseconds(1))
    case .executor: .executor(Executor(queue))
    }
  }

  private final class Executor: TaskExecutor {
    private let queue: DispatchQueue
    init(_ queue: DispatchQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }
}

@Suite("The limit of a host whose lane stands still", .timeLimit(.minutes(60)))
struct LaneLimitTests {
  /// A bank whose lane stands still until the gate is opened.
  private func bank(_ lane: Lane) throws -> (Bank, gate: DispatchSemaphore) {
    let (queue, gate) = (DispatchQueue(label: "lane"), DispatchSemaphore(value: 0))
    let bank = try Bank(on: lane.on(queue))
    queue.async { gate.wait() }
    return (bank, gate)
  }

  @Test(
    "calls that have ended before their turn count until their turn",
    arguments: Lane.allCases.filter { $0 != .caller }, [false, true])
  func ended(lane: Lane, suspends: Bool) async throws {
    let (bank, gate) = try bank(lane)
    let (host, remote) = (bank.host, bank.remote)
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
    gate.signal()
    remote.deadline = .seconds(3000)
    // The lane drops the calls, so there is room for others.
    try await eventually { (try? await Vault.deposit(0, on: remote)) != nil }
    #expect(bank.vault.balance == 0)
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
    let (bank, gate) = try bank(.queue)
    bank.remote.deadline = .milliseconds(1)
    await #expect(throws: RemoteError.timedOut) { try await Vault.deposit(1, on: bank.remote) }
    try await bank.host.drain(within: .seconds(3000))
    gate.signal()
    #expect(bank.vault.balance == 0)
  }
}
