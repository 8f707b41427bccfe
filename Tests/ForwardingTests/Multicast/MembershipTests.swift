// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations
import Testing

@testable import Forwarding

@Suite("Multicast: membership")
struct MembershipTests {
  @Test("targets are weak by default, strong on request; the dead vanish as they are met")
  func weak() throws {
    let log = Log()
    let proxy = MulticastProxy()
    let diagnostics = Log()
    proxy.onDiagnostic = { diagnostics.add("\($0)".prefix { $0 != "(" }.description) }
    var gone: Listener? = Listener("gone", log)
    proxy.add(gone!)
    proxy.add(Listener("kept", log), strongly: true)
    try did(1, on: proxy)
    gone = nil
    #expect(proxy.count == 1)
    #expect(proxy.registrationCount == 2)
    try did(2, on: proxy)
    #expect(log.all == ["gone 1", "kept 1", "kept 2"])
    #expect(proxy.registrationCount == 1)
    #expect(diagnostics.all == ["deadTarget"])
  }

  @Test("insertion order, and higher priorities first")
  func order() throws {
    let log = Log()
    let proxy = MulticastProxy()
    for (name, priority) in [("a", 0), ("b", 5), ("c", 0), ("d", 5), ("e", -1)] {
      proxy.add(Listener(name, log), strongly: true, priority: priority)
    }
    try did(0, on: proxy)
    #expect(log.all == ["b 0", "d 0", "a 0", "c 0", "e 0"])
  }

  @Test("duplicates by identity and queue: ignored, allowed or refused")
  func duplicates() throws {
    let log = Log()
    let proxy = MulticastProxy()
    let target = Listener("x", log)
    let token = proxy.add(target)
    #expect(proxy.add(target) == token)
    #expect(proxy.count == 1)
    proxy.add(target, on: .blocking(DispatchQueue(label: "own")))
    #expect(proxy.count == 2)
    proxy.duplicateRule = .allow
    #expect(proxy.add(target) != token)
    try did(1, on: proxy)
    #expect(log.count == 3)
  }

  @Test("removal by token, target, queue, group, all; scoped registrations end with their object")
  func removal() throws {
    let log = Log()
    let proxy = MulticastProxy()
    let queue = DispatchQueue(label: "removal")
    let (a, b) = (Listener("a", log), Listener("b", log))
    let token = proxy.add(a)
    proxy.add(a, on: .blocking(queue))
    proxy.add(b, group: "g")
    #expect(proxy.contains(a))
    #expect(proxy.contains(token))
    #expect(proxy.remove(token))
    #expect(!proxy.remove(token))
    #expect(proxy.remove(a, on: .caller) == 0)
    #expect(proxy.remove(a, on: .blocking(queue)) == 1)
    #expect(!proxy.contains(a))
    #expect(proxy.removeGroup("g") == 1)
    #expect(proxy.isEmpty)
    do {
      let scope = proxy.scoped(a)
      #expect(proxy.contains(a))
      withExtendedLifetime(scope) {}
    }
    #expect(!proxy.contains(a))
    proxy.add(a)
    proxy.add(a, on: .blocking(queue))
    #expect(proxy.remove(a) == 2)
    proxy.add(a)
    proxy.add(b)
    #expect(proxy.removeAll() == 2)
    try did(1, on: proxy)
    #expect(log.all.isEmpty)
  }

  @Test("once: the registration ends with its first message")
  func once() throws {
    let log = Log()
    let proxy = MulticastProxy()
    let target = Listener("x", log)
    proxy.add(target, once: true)
    try did(1, on: proxy)
    try did(2, on: proxy)
    #expect(log.all == ["x 1"])
    #expect(proxy.registrationCount == 0)
  }

  @Test("blocking is counted")
  func blocking() throws {
    let log = Log()
    let proxy = MulticastProxy()
    let target = Listener("x", log)
    let token = proxy.add(target)
    #expect(proxy.block(token))
    #expect(proxy.block(token))
    try did(1, on: proxy)
    #expect(proxy.unblock(token))
    try did(2, on: proxy)
    #expect(proxy.unblock(token))
    #expect(!proxy.unblock(token))
    try did(3, on: proxy)
    #expect(log.all == ["x 3"])
  }

  @Test("targets are counted and listed by class and by selector; too many targets are reported")
  func listing() throws {
    let proxy = MulticastProxy()
    let diagnostics = Log()
    proxy.onDiagnostic = { diagnostics.add("\($0)") }
    proxy.expectedTargets = 2
    let listeners = [Listener("1", Log()), Listener("2", Log())]
    let closure = ClosureTarget()
    for listener in listeners { proxy.add(listener) }
    proxy.add(closure)
    #expect(diagnostics.all == ["tooManyTargets(count: 3, limit: 2)"])
    #expect(proxy.targets(of: Listener.self).count == 2)
    #expect(proxy.targets.count == 3)
    #expect(proxy.targets(respondingTo: Selector("did:")).count == 2)
    #expect(proxy.responds(to: "did:"))
    #expect(!proxy.responds(to: "none"))
    withExtendedLifetime((listeners, closure)) {}
  }

  @Test("a proxy that is its own target answers nothing, and a circle of two is an error")
  func cycles() throws {
    let proxy = MulticastProxy()
    let token = proxy.add(proxy)
    #expect(throws: ForwardingError.nobodyAnswered("value")) { try Messages.value(on: proxy) }
    proxy.remove(token)
    let other = MulticastProxy()
    proxy.add(other)
    other.add(proxy)
    let log = Log()
    let listener = Listener("x", log)
    other.add(listener)
    // `responds` of one proxy asks the other, and so on: that is a cycle as well.
    let report = try proxy.deliver(did.invocation(1))
    #expect(report.entries.count == 1)
    #expect(log.all == ["x 1"])
    let error = try #require(report.errors.first as? InvocationError)
    #expect(error == .forwardingCycle("did:", type: SwiftType(MulticastProxy.self)))
  }
}
