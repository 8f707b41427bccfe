// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations
import Forwarding
import Synchronization
import Testing

/// A target whose methods suspend for a while.
private final class Slow: MethodDeclaring, @unchecked Sendable {
  let name: Int
  let log: Log
  init(_ name: Int, _ log: Log) {
    self.name = name
    self.log = log
  }

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("tell:") { (self: Slow, text: String) async -> Void in
      self.log.add("\(self.name) begins")
      await Task.yield()
      self.log.add("\(self.name) ends")
    }
    methods.register("keep:") { (self: Slow, value: Counted) async -> Counted in
      await Task.yield()
      return value
    }
    methods.register("wait") { (self: Slow) async throws -> Void in
      self.log.add("\(self.name) waits")
      do { try await Task.sleep(for: .seconds(1000)) } catch {
        self.log.add("\(self.name) is cancelled")
        throw error
      }
    }
    methods.register("firstIs:") { (self: Slow, quick: Int) async throws -> Int in
      if self.name != quick { try await Task.sleep(for: .seconds(1000)) }
      return self.name
    }
    methods.register("read:at:") {
      (self: Slow, text: String, address: UnsafePointer<Int32>?) async -> Int in
      text.count + (address == nil ? 0 : 1)
    }
    methods.register("give") { (self: Slow) -> Given in
      self.log.add("\(self.name) gives")
      return self.name == 1 ? Given() : SpecialGiven()
    }
    methods.register("meet:") { (self: Slow, meeting: Meeting) async -> Void in
      await meeting.arrive()
    }
  }
}

private class Given: @unchecked Sendable {}
private final class SpecialGiven: Given, @unchecked Sendable {}

/// A point at which several tasks wait for each other.
private actor Meeting {
  private var missing: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []
  init(_ count: Int) { missing = count }
  func arrive() async {
    missing -= 1
    if missing > 0 { return await withCheckedContinuation { waiting.append($0) } }
    for one in waiting { one.resume() }
  }
}

private let tell = try! AsyncMessage<Void, String>("tell:")
private let keep = try! AsyncMessage<Counted, Counted>("keep:")
private let wait = try! AsyncMessage<Void>("wait")
private let firstIs = try! AsyncMessage<Int, Int>("firstIs:")
private let meet = try! AsyncMessage<Void, Meeting>("meet:")

/// A proxy, and its targets, which it holds weakly.
private func targets(_ count: Int, _ log: Log = Log()) -> (MulticastProxy, [Slow]) {
  let proxy = MulticastProxy()
  let targets = (1...count).map { Slow($0, log) }
  for target in targets { proxy.add(target) }
  return (proxy, targets)
}

@Suite("Awaited deliveries", .timeLimit(.minutes(60)))
struct AwaitedDeliveryTests {
  @Test("all targets begin before any of them ends")
  func atOnce() async throws {
    let (proxy, kept) = targets(16)
    try await meet.message(Meeting(16), on: proxy, concurrently: true)
    withExtendedLifetime(kept) {}
  }

  @Test("the first answer ends a delivery, and cancels the other targets, which is no error")
  func first() async throws {
    let (proxy, kept) = targets(16)
    proxy.resultRule = .first
    #expect(try await firstIs.message(9, on: proxy, concurrently: true) == 9)
    let report = try await firstIs.message.report(9, on: proxy, concurrently: true)
    #expect(report.errors.isEmpty)
    #expect(report.entries[8].outcome.isAnswer)
    withExtendedLifetime(kept) {}
  }

  @Test("an async method takes another pointee type of the sender, also beside text")
  func besideText() async throws {
    let read = try AsyncMessage<Int, String, UnsafeRawPointer?>("read:at:")
    #expect(try await read("abc", UnsafeRawPointer(bitPattern: 8), on: Slow(1, Log())) == 4)
  }

  @Test("an answer that cannot be read ends no delivery, and is the error of the report")
  func unreadable() async throws {
    let log = Log()
    let (proxy, kept) = targets(3, log)
    let give = try Message<SpecialGiven>("give")
    #expect(throws: InvocationError.self) { try give.report(on: proxy) }
    #expect(log.all == ["1 gives", "2 gives", "3 gives"])
    await #expect(throws: InvocationError.self) {
      try await give.report(on: proxy, concurrently: false)
    }
    #expect(log.all.count == 6)
    withExtendedLifetime(kept) {}
  }

  @Test("a synchronous send reports async methods as errors, and calls the others")
  func notAwaited() throws {
    let log = Log()
    let proxy = MulticastProxy()
    let (slow, quick) = (Slow(1, log), ClosureTarget())
    try quick.register("tell:") { (_: String) in log.add("quick") }
    proxy.add(slow)
    proxy.add(quick)
    let report = try tell.message.report("x", on: proxy)
    #expect(report.errors.map { $0 as? InvocationError } == [.notAwaited("tell:")])
    #expect(log.all == ["quick"])
  }

  @Test(
    "cancellation reaches each suspended target, and no other target begins",
    arguments: [(false, 1), (true, 16)])
  func cancelled(concurrently: Bool, _ begun: Int) async throws {
    let log = Log()
    let (proxy, kept) = targets(16, log)
    let task = Task { try await wait.message(on: proxy, concurrently: concurrently) }
    while log.count < begun { try await Task.sleep(for: .milliseconds(1)) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(log.all.count { $0.hasSuffix("waits") } == begun)
    #expect(log.all.count { $0.hasSuffix("is cancelled") } == begun)
    withExtendedLifetime(kept) {}
  }

  @Test(
    "arguments and results live as long as they are used",
    arguments: [false, true])
  func lifetimes(concurrently: Bool) async throws {
    let log = Log()
    let (proxy, kept) = targets(5)
    do {
      let answers = try await keep.message.all(
        Counted(log), on: proxy, concurrently: concurrently)
      #expect(answers.count == 5)
      withExtendedLifetime(answers) { #expect(alive(log) == 1) }
    }
    #expect(alive(log) == 0)
    withExtendedLifetime(kept) {}
  }
}
