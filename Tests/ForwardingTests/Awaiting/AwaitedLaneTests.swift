// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingTestSupport
import Foundation
import Invocations
import Testing

private final class Answering: MethodDeclaring, @unchecked Sendable {
  let log: Log
  init(_ log: Log) { self.log = log }

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("twice:") { (self: Answering, value: Int) in
      self.log.add("\(value)")
      return value * 2
    }
    methods.register("note:") { (self: Answering, value: Int) in self.log.add("\(value)") }
    methods.register("slowly:") { (self: Answering, value: Int) async -> Int in
      self.log.add("\(value) begins")
      for _ in 0..<5 { await Task.yield() }
      self.log.add("\(value) ends")
      return value * 2
    }
    methods.register("place") { (_: Answering) async -> [Bool] in
      var found = [isOnTestQueue()]
      await Task.yield()
      found.append(isOnTestQueue())
      return found
    }
    methods.register("fail") { (_: Answering) async throws -> Void in
      await Task.yield()
      throw Failure(name: "lane")
    }
    methods.register("wait") { (self: Answering) async throws -> Void in
      self.log.add("waits")
      try await Task.sleep(for: .seconds(1000))
    }
  }
}

private let queue = DispatchQueue(label: "awaited lanes")
private let key = DispatchSpecificKey<Bool>()
private func isOnTestQueue() -> Bool { DispatchQueue.getSpecific(key: key) == true }

private actor Place {}

private let twice = try! AsyncMessage<Int, Int>("twice:")
private let slowly = try! AsyncMessage<Int, Int>("slowly:")
private let fail = try! AsyncMessage<Void>("fail")
private let wait = try! AsyncMessage<Void>("wait")

private let lanes: [DeliveryLane] = [
  .caller, .queue(queue), .blocking(queue), .blocking(queue, deadline: .seconds(3600)),
  .actor(Place()),
  .actor(MainActor.shared),
]

@Suite("Awaited messages on lanes", .timeLimit(.minutes(60)))
struct AwaitedLaneTests {
  @Test(
    "its answer, its error and its cancellation reach an async method's sender", arguments: lanes)
  func ends(_ lane: DeliveryLane) async throws {
    let log = Log()
    let (proxy, target) = (MulticastProxy(), Answering(log))
    proxy.add(target, on: lane)
    #expect(try await slowly(4, on: proxy) == 8)
    #expect(try await slowly.message(5, on: proxy, concurrently: true) == 10)
    await #expect(throws: Failure(name: "lane")) { try await fail(on: proxy) }
    let task = Task { try await wait(on: proxy) }
    while log.all.last != "waits" { try? await Task.sleep(for: .milliseconds(1)) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    withExtendedLifetime(target) {}
  }

  @Test("an async method stays on its queue, before and after it is suspended")
  func place() async throws {
    let (proxy, target) = (MulticastProxy(), Answering(Log()))
    queue.setSpecific(key: key, value: true)
    proxy.add(target, on: .queue(queue))
    #expect(try await AsyncMessage<[Bool]>("place")(on: proxy) == [true, true])
  }

  @Test("a message that waits for its queue is dropped when its sender is cancelled")
  func cancelledBefore() async {
    let log = Log()
    let (proxy, target) = (MulticastProxy(), Answering(log))
    let busy = DispatchQueue(label: "busy")
    let gate = DispatchSemaphore(value: 0)
    busy.async { gate.wait() }
    proxy.add(target, on: .queue(busy))
    let task = Task { try await twice(4, on: proxy) }
    await Task.yield()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    gate.signal()
    busy.sync {}
    #expect(log.all.isEmpty)
    withExtendedLifetime(target) {}
  }

  @Test("a deadline ends the wait, and cancels the method")
  func deadline() async {
    let (proxy, target) = (MulticastProxy(), Answering(Log()))
    proxy.add(target, on: .blocking(queue, deadline: .milliseconds(20)))
    let late = ForwardingError.timedOut(
      .init(selector: "wait", target: Answering.self, queue: "awaited lanes"))
    await #expect(throws: late) { try await wait(on: proxy) }
    withExtendedLifetime(target) {}
  }

  @Test("messages that are not awaited begin in order on an actor's lane, and may suspend")
  func order() async throws {
    let log = Log()
    let (proxy, target) = (MulticastProxy(), Answering(log))
    proxy.add(target, on: .actor(Place()))
    let start = try Message<NoResult, Int>("slowly:")
    var tickets: [DeliveryTicket?] = []
    for value in 0..<8 {
      tickets.append(try start.report(value, on: proxy).entries[0].ticket)
    }
    for ticket in tickets { #expect(await ticket?.value().isAnswer == true) }
    #expect(log.all.filter { $0.hasSuffix("begins") } == (0..<8).map { "\($0) begins" })
    withExtendedLifetime(target) {}
  }

  @Test(
    "an awaited message does not overtake one that is not awaited",
    arguments: [DeliveryLane.queue(queue), .actor(Place())])
  func overtaking(_ lane: DeliveryLane) async throws {
    let log = Log()
    let (proxy, target) = (MulticastProxy(), Answering(log))
    proxy.add(target, on: lane)
    let tell = try Message<Void, Int>("note:")
    for value in 0..<20 {
      try tell(value, on: proxy)
      try await AsyncMessage(tell)(value + 100, on: proxy)
    }
    #expect(log.all == (0..<20).flatMap { ["\($0)", "\($0 + 100)"] })
    withExtendedLifetime(target) {}
  }

  @Test("a method may await a message on the lane that it runs on", arguments: lanes)
  func inside(_ lane: DeliveryLane) async throws {
    let proxy = MulticastProxy()
    let (outer, inner) = (ClosureTarget(), Answering(Log()))
    try outer.register(
      "ask:",
      Implementation { (_: ClosureTarget, value: Int) async throws -> Int in
        try await slowly(value, on: proxy)
      })
    proxy.add(outer, on: lane)
    proxy.add(inner, on: lane)
    #expect(try await AsyncMessage<Int, Int>("ask:")(4, on: proxy) == 8)
  }

  @Test("messages that end in time leave no timers of their lanes")
  func noTimers() async {
    await #expect(processExitsWith: .success) {
      let proxy = MulticastProxy()
      let target = ClosureTarget()
      try target.register("load", Implementation { (_: ClosureTarget) async -> Void in })
      let load = try AsyncMessage<Void>("load")
      let queue = DispatchQueue(label: "timers")
      proxy.add(target, on: .blocking(queue, deadline: .seconds(3600)))
      for _ in 0..<2000 { try await load(on: proxy) }
      require(Deadlines.shared.count == 0, "\(Deadlines.shared.count) timers are left")
      _exit(0)
    }
  }
}
