// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingTestSupport
import Invocations
import Testing

@Suite("Multicast: the order on a lane")
struct LaneOrderTests {
  actor Worker {}

  final class OneQueue: TaskExecutor {
    let queue = DispatchQueue(label: "executor")
    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  @Test(
    "all targets on one actor or executor receive a message before any receives the next",
    arguments: [DeliveryLane.actor(Worker()), .mainActor, .executor(OneQueue())])
  func allRegistrations(_ lane: DeliveryLane) async throws {
    let log = Log()
    let proxy = MulticastProxy()
    let names = ["a", "b", "c"]
    for name in names { proxy.add(Listener(name, log), strongly: true, on: lane) }
    var tickets: [DeliveryTicket] = []
    for value in 0..<300 {
      tickets += try proxy.deliver(did.invocation(Int32(value))).entries.compactMap(\.ticket)
    }
    for ticket in tickets { #expect(await ticket.value().isAnswer) }
    #expect(log.all == (0..<300).flatMap { value in names.map { "\($0) \(value)" } })
  }

  enum Trace { @TaskLocal static var id = "none" }

  @Test(
    "each message has the task-local values and the priority of its own sender",
    arguments: ["actor", "executor"])
  func senders(_ kind: String) async throws {
    let lane: DeliveryLane = kind == "actor" ? .actor(Worker()) : .executor(OneQueue())
    let log = Log()
    let target = ClosureTarget()
    try target.register("did:") { (value: Int32) in
      log.add("\(value) \(Trace.id) \(Task.currentPriority == .background)")
    }
    let proxy = MulticastProxy()
    proxy.add(target, on: lane)
    let tickets = LockedValue<[DeliveryTicket]>([])
    for value in Int32(0)..<200 {
      let priority: TaskPriority = value % 2 == 0 ? .background : .high
      await Task.detached(priority: priority) {
        Trace.$id.withValue("\(value)") {
          let sent = try? proxy.deliver(did.invocation(value))
          tickets.withLock { $0 += sent?.entries.compactMap(\.ticket) ?? [] }
        }
      }.value
    }
    for ticket in tickets.withLock({ $0 }) { #expect(await ticket.value().isAnswer) }
    #expect(log.all == (0..<200).map { "\($0) \($0) \($0 % 2 == 0)" })
  }

  @Test("a registration added while messages are on their way keeps the order")
  func newRegistration() async throws {
    let lane = DeliveryLane.actor(Worker())
    let log = Log()
    let proxy = MulticastProxy()
    var tickets: [DeliveryTicket] = []
    for value in 0..<200 {
      // Each target receives one message; the next is sent when the last target has left the list.
      proxy.add(Listener("x", log), strongly: true, on: lane, once: true)
      tickets += try proxy.deliver(did.invocation(Int32(value))).entries.compactMap(\.ticket)
    }
    for ticket in tickets { #expect(await ticket.value().isAnswer) }
    #expect(log.all == (0..<200).map { "x \($0)" })
  }
}
