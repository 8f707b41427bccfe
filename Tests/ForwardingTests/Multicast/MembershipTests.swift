// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations
import Testing

@testable import Forwarding

@Suite("Multicast: membership")
struct MembershipTests {
  @Test("the registration of a target on one lane is removed by its token")
  func removal() {
    let (proxy, queue) = (MulticastProxy(), DispatchQueue(label: "removal"))
    let target = Listener("a", Log())
    let here = proxy.add(target)
    let there = proxy.add(target, on: .blocking(queue))
    #expect(there.remove())
    #expect(!there.remove())
    #expect(proxy.contains(target))
    #expect(here.remove())
    #expect(!proxy.contains(target))
  }

  @Test("targets are counted and listed by class and by selector")
  func listing() throws {
    let proxy = MulticastProxy()
    let listeners = [Listener("1", Log()), Listener("2", Log())]
    let closure = ClosureTarget()
    for listener in listeners { proxy.add(listener) }
    proxy.add(closure)
    #expect(proxy.targets.count { $0 is Listener } == 2)
    #expect(proxy.targets.count == 3)
    #expect(proxy.targets.count { Introspection.responds($0, to: "did:") } == 2)
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
