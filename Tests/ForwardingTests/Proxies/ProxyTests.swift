// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Invocations
import Testing
import TypeEncodings

@Suite("Proxies for one object")
struct ProxyTests {
  @Test("a proxy looks like its target")
  func single() throws {
    final class Described: Listener, @unchecked Sendable {}
    let target = Described("4", Log())
    let proxy = MulticastProxy(one: target)
    #expect(proxy.responds(to: "did:"))
    #expect(!proxy.responds(to: "nothing"))
    #expect(try Messages.value(on: proxy) == 4)
    let described = try ProtocolDescription("Described")
    MethodTable.of(Described.self).adopt(described)
    #expect(proxy.conforms(to: described))
    #expect(!ForwardingProxy().conforms(to: described))
    // It has its own identity and description, as every Swift object.
    #expect(proxy !== (target as AnyObject) && "\(type(of: proxy))" == "MulticastProxy")
    #expect(throws: InvocationError.self) { try Message<NoResult>("nothing")(on: proxy) }
  }

  @Test("handlers before, around and after see arguments and result, and can replace both")
  func intercepting() throws {
    let log = Log()
    let proxy = InterceptingProxy(Listener("x", log))
    let before = proxy.before("did:") { call in
      try call.setArgument(call.argument(at: 2, as: Int32.self) * 2, at: 2)
    }
    proxy.after { call in log.add("after \(call.selector?.name ?? "")") }
    try did(21, on: proxy)
    #expect(log.all == ["x 42", "after did:"])
    #expect(before.remove())
    #expect(!before.remove())
    let around = proxy.around("value") { call, _ in try call.setResult(Int32(99)) }
    #expect(try Messages.value(on: proxy) == 99)
    proxy.after("value") { call in try call.setResult(call.result(as: Int32.self) + 1) }
    #expect(try Messages.value(on: proxy) == 100)
    around.remove()
    #expect(try Messages.value(on: proxy) == 0)
    proxy.around("unknown") { call, _ in try call.setResult(Int32(7)) }
    #expect(try Message<Int32>("unknown")(on: proxy) == 7)
    proxy.around("unknown") { call, proceed in
      try proceed()
      try call.setResult(call.result(as: Int32.self) * 2)
    }
    #expect(try Message<Int32>("unknown")(on: proxy) == 14)
    proxy.around { _, proceed in try proceed() }
    #expect(throws: InvocationError.self) { try Message<Int32>("stranger")(on: proxy) }
  }

  @Test(
    "a handler sees the arguments of one around the target, and the next multicast target the sender's"
  )
  func sentOn() throws {
    let log = Log()
    let proxy = InterceptingProxy(Listener("target", log))
    proxy.before("did:") { call in log.add("before \(try call.argument(at: 2, as: Int32.self))") }
    proxy.around("did:") { call, proceed in
      try call.setArgument(Int32(2), at: 2)
      try proceed()
    }
    proxy.after("did:") { call in log.add("after \(try call.argument(at: 2, as: Int32.self))") }
    let everyone = MulticastProxy()
    everyone.add(proxy)
    let next = Listener("next", log)
    everyone.add(next)
    try did(1, on: everyone)
    #expect(log.all == ["before 1", "target 2", "after 2", "next 1"])
    withExtendedLifetime(next) {}
  }

  @Test("what a target changes in its invocation, neither the next target nor the sender sees")
  func changed() throws {
    final class Changing: ForwardingProxy {
      override func forward(_ invocation: Invocation) throws {
        try invocation.setArgument(Int32(2), at: 2)
      }
    }
    let (log, everyone) = (Log(), MulticastProxy())
    everyone.add(Changing(), strongly: true)
    everyone.add(Listener("next", log), strongly: true)
    let call = try Messages.did.invocation(1)
    try call.invoke(on: everyone)
    #expect(log.all == ["next 1"])
    #expect(try call.argument(at: 2, as: Int32.self) == 1)
  }

  @Test("an `instead` handler sends the message on without a reference to the proxy")
  func proceeding() throws {
    let target = Listener("7", Log())
    weak var held: InterceptingProxy?
    do {
      let proxy = InterceptingProxy(target)
      held = proxy
      proxy.around("value") { call, proceed in
        try proceed()
        try call.setResult(call.result(as: Int32.self) + 1)
      }
      #expect(try Messages.value(on: proxy) == 8)
    }
    #expect(held == nil)
  }

  @Test("a handler for a selector that the target has no method for is reported")
  func misspelt() async {
    await #expect(processExitsWith: .success) {
      let told = Log()
      ForwardingEvent.destination = .handler { told.add("\($0.kind) \($0)") }
      let proxy = InterceptingProxy(Listener("x", Log()))
      proxy.before { _ in }
      proxy.before("did:") { _ in }
      proxy.around("unknown") { _, _ in }
      proxy.before("unknown") { _ in }
      InterceptingProxy(proxy).before("unknown") { _ in }
      require(told.all.isEmpty, "\(told.all)")
      proxy.before("dod:") { _ in }
      require(told.all.count == 1)
      require(told.all[0].hasPrefix("unanswered "), told.all[0])
      require(told.all[0].hasSuffix("did you mean 'did:'?"), told.all[0])
    }
  }

  @Test("a closure target answers with closures")
  func closures() throws {
    let one = ClosureTarget()
    let other = ClosureTarget()
    try one.register("value") { () -> Int32 in 1 }
    try other.register("value") { () -> Int32 in 2 }
    #expect(try Messages.value(on: one) == 1)
    #expect(try Messages.value(on: other) == 2)
    #expect(one.unregister("value"))
    #expect(!one.unregister("value"))
    #expect(throws: InvocationError.self) { try Messages.value(on: one) }
    #expect(throws: InvocationError.self) { try one.register("colons:") { () in } }
  }
}

@Suite("Typed and dynamic messages")
struct MessageTests {
  @Test("the encoding is derived, and a mismatch is found at the first send")
  func typed() throws {
    #expect(Messages.maybe.signature.description == "i@:B")
    #expect(try Messages.value(on: nil) == 0)
    let wrong = try Message<Int32, Double>("did:")
    #expect(
      throws: InvocationError.signatureMismatch(
        name: "did:", expected: signatureOf("v@:i"), given: signatureOf("i@:d"))
    ) {
      try wrong(1.5, on: Listener("1", Log()))
    }
    #expect(throws: InvocationError.self) { try Message<NoResult, Int32>("noColon") }
  }
}
