// SPDX-License-Identifier: Apache-2.0
@testable import Forwarding
import ForwardingTestSupport
import Testing

@testable import Invocations

private final class Words: MethodDeclaring, @unchecked Sendable {
  let word: String?
  init(_ word: String?) { self.word = word }

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("word") { (words: Words) throws -> String in
      guard let word = words.word else { throw Failure(name: "no word") }
      return word
    }
  }
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

  @Test("a subclass that observes messages sees each one as an invocation")
  func seeing() throws {
    let log = Log()
    let proxy = SeeingProxy()
    let listener = Listener("x", log)
    proxy.add(listener)
    try did(1, on: proxy)
    try did(2, on: proxy)
    #expect(proxy.seen == ["did:", "did:"])
    #expect(log.all == ["x 1", "x 2"])
    withExtendedLifetime(listener) {}
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
