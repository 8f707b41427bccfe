// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Testing

@testable import Invocations

private final class Words: CallObject, @unchecked Sendable {
  let word: String?
  init(_ word: String?) { self.word = word }
}

private final class Swapping: CallObject, @unchecked Sendable {
  let log: Log
  var swap: (() -> Void)?
  init(_ log: Log) { self.log = log }
}

/// A subclass that observes messages, so that it receives invocations.
private final class SeeingProxy: MulticastProxy, @unchecked Sendable {
  var seen: [String] = []
  override func forward(_ invocation: Invocation) throws {
    seen.append(invocation.selector?.name ?? "")
    try super.forward(invocation)
  }
}

@Suite("Deliveries without a report")
struct QuickDeliveryTests {
  init() throws {
    try MethodTable.of(Words.self).register("word", replacing: true) {
      (words: Words) throws -> String in
      guard let word = words.word else { throw Failure(name: "no word") }
      return word
    }
    try MethodTable.of(Swapping.self).register("step", replacing: true) { (target: Swapping) in
      target.log.add("old")
      target.swap?()
    }
  }

  @Test("a string result survives the failure of the next target, and is freed once")
  func owned() throws {
    for isSeeing in [false, true] {
      let proxy = isSeeing ? SeeingProxy() : MulticastProxy()
      let targets = ["one", "two", nil].map { Words($0) }
      for target in targets { proxy.add(target, strongly: true) }
      let call = try Message<String>("word").invocation()
      #expect(throws: Failure(name: "no word")) { try call.invoke(on: proxy) }
      #expect(try call.result(as: String.self) == "two")
      proxy.remove(targets[2])
      #expect(try Message<String>("word")(on: proxy) == "two")
      proxy.resultRule = .first
      #expect(try Message<String>("word")(on: proxy) == "one")
      proxy.removeAll()
      #expect(throws: ForwardingError.self) { try Message<String>("word")(on: proxy) }
    }
  }

  @Test("a method that is replaced during a delivery is not called by later targets")
  func replacing() throws {
    let log = Log()
    let proxy = MulticastProxy()
    let targets = (0..<3).map { _ in Swapping(log) }
    for target in targets { proxy.add(target) }
    let table = MethodTable.of(Swapping.self)
    let step = Selector("step")
    let old = try #require(table.method(for: step))
    defer { table.replace(step, old) }
    targets[0].swap = {
      table.replace(step, try! Implementation { (target: Swapping) in target.log.add("new") })
    }
    try Message<NoResult>("step")(on: proxy)
    #expect(log.all == ["old", "new", "new"])
    withExtendedLifetime(targets) {}
  }

  @Test("targets of several classes, weak and strong, dead and blocked, are called in order")
  func mixed() throws {
    let log = Log()
    let proxy = MulticastProxy()
    let gone = Guarded(0)
    proxy.onDiagnostic = { if case .deadTarget = $0 { gone.withLock { $0 += 1 } } }
    var kept: [AnyObject] = []
    for index in 0..<12 {
      let listener = Listener("\(index)", log)
      let closure = ClosureTarget()
      try closure.register("did:") { (value: Int32) in log.add("c\(index) \(value)") }
      kept += [listener, closure]
      proxy.add(listener, strongly: index % 3 == 0)
      proxy.add(closure)
    }
    let blocked = proxy.add(Listener("blocked", log), strongly: true)
    proxy.block(blocked)
    kept.remove(at: 2)
    try did(7, on: proxy)
    let all = (0..<12).flatMap { ["\($0) 7", "c\($0) 7"] }
    #expect(log.all == all.filter { $0 != "1 7" })
    #expect(gone.withLock { $0 } == 1)
    proxy.unblock(blocked)
    log.clear()
    try did(8, on: proxy)
    #expect(log.count == 24)
    #expect(log.all.last == "blocked 8")
    withExtendedLifetime(kept) {}
  }

  @Test("a subclass that observes messages sees each one as an invocation")
  func seeing() throws {
    let log = Log()
    let proxy = SeeingProxy()
    let listener = Listener("x", log)
    proxy.add(listener)
    try did(1, on: proxy)
    try proxy.dynamic.did(Int32(2))
    #expect(proxy.seen == ["did:", "did:"])
    #expect(log.all == ["x 1", "x 2"])
    withExtendedLifetime(listener) {}
  }

  @Test("nested proxies deliver, and a circle of proxies is an error")
  func circles() throws {
    let log = Log()
    let (outer, inner) = (MulticastProxy(), MulticastProxy())
    let listener = Listener("x", log)
    outer.add(inner)
    inner.add(listener)
    try did(1, on: outer)
    #expect(log.all == ["x 1"])
    inner.add(outer)
    #expect(throws: InvocationError.self) { try did(2, on: outer) }
    #expect(log.all == ["x 1", "x 2"])
    withExtendedLifetime((listener, inner)) {}
  }

  @Test("methods that send to their own proxy end with an error, not with a stack overflow")
  func recursion() throws {
    final class Echo: CallObject, @unchecked Sendable {
      weak var proxy: MulticastProxy?
      var deepest = 0
      var depth = 0
    }
    let ring = try Message<NoResult>("ring")
    try MethodTable.of(Echo.self).register("ring") { (echo: Echo) throws in
      echo.depth += 1
      echo.deepest = max(echo.deepest, echo.depth)
      defer { echo.depth -= 1 }
      try ring(on: echo.proxy)
    }
    let proxy = MulticastProxy()
    let echo = Echo()
    echo.proxy = proxy
    proxy.add(echo)
    #expect(throws: InvocationError.self) { try ring(on: proxy) }
    #expect(echo.deepest == ForwardingDepth.limit)
    withExtendedLifetime(proxy) {}
  }

  @Test("every target is released while threads send, add and remove")
  func threads() throws {
    let proxy = MulticastProxy()
    let alive = Guarded(0)
    final class Counted: MethodDeclaring, @unchecked Sendable {
      let alive: Guarded<Int>
      init(_ alive: Guarded<Int>) {
        self.alive = alive
        alive.withLock { $0 += 1 }
      }
      deinit { alive.withLock { $0 -= 1 } }
      class func declareMethods(_ methods: MethodDeclarations) {
        methods.register("did:") { (_: Counted, _: Int32) in }
      }
    }
    onThreads(6) { index in
      for round in 0..<400 {
        if index < 3 {
          _ = try? did(Int32(round), on: proxy)
        } else {
          let token = proxy.add(Counted(alive), strongly: true)
          _ = try? did(Int32(round), on: proxy)
          proxy.remove(token)
        }
      }
    }
    #expect(proxy.registrationCount == 0)
    // The last thread that releases a list disposes of it, at the latest with the next delivery.
    try did(0, on: proxy)
    #expect(alive.withLock { $0 } == 0)
  }
}
