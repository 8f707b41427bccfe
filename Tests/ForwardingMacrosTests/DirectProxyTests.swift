// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Forwarding
  import ForwardingTestSupport
  import Testing

  private final class Early: Ear, @unchecked Sendable {}

  private final class Own: Ear, MethodProviding, @unchecked Sendable {
    func ownMethod(for selector: Selector) -> Implementation? {
      selector == "hear:"
        ? try? Implementation { (own: Own, number: Int) in own.story.tell("own \(number)") } : nil
    }
  }

  @Suite("Proxies whose targets have methods of their own, and how deep they call")
  struct DirectProxyTests {
    private let story = Story()
    private let targets = Multicast<HearingProxy>()

    @Test("a method that its class had before is called in place of the requirement")
    func before() throws {
      try MethodTable.of(Early.self).register("hear:") { (ear: Early, number: Int) in
        ear.story.tell("registered \(number)")
      }
      targets.add(Early(3, story), strongly: true)
      targets.proxy.hear(2)
      #expect(story.take() == ["registered 2"])
    }

    @Test("an object with its own methods is asked for them by a message, and not by its protocol")
    func own() throws {
      targets.add(Own(1, story), strongly: true)
      targets.proxy.hear(1)
      try Message<Void, Int>("hear:")(2, on: targets.untyped)
      #expect(story.take() == ["1 hears 1", "own 2"])
    }

    @Test("a proxy that calls itself without end is refused, and all steps end")
    func depth() throws {
      let ear = Ear(1, story)
      let (targets, failures) = (targets, Guarded(0))
      targets.add(ear, strongly: true)
      targets.onDiagnostic = { _ in failures.withLock { $0 += 1 } }
      func again() {
        ear.errand = again
        targets.proxy.hear(1)
      }
      ear.errand = again
      // With a sanitizer, 200 steps need more than a thread of the pool has.
      try onStack(of: 16 << 20) { targets.proxy.hear(0) }
      #expect(story.take().count == 200)
      #expect(failures.read { $0 } == 1)
      ear.errand = nil
      // Nor is a step left of a call that no target gets.
      let none = Multicast<HearingProxy>()
      for _ in 0..<1000 { none.proxy.hear(0) }
      targets.proxy.hear(0)
      #expect(story.take() == ["1 hears 0"])
    }

    @Test(
      "every error of a target reaches its sender, also one that a proxy has thrown to it",
      arguments: [
        ForwardingError.nobodyAnswered("check:") as any Error, ForwardingError.targetGone("check:"),
        InvocationError.unrecognizedSelector("check:", type: nil, nearest: nil),
      ], ProxyWay.allCases)
    func errors(_ error: any Error, _ way: ProxyWay) async {
      let (targets, ear) = (Multicast<HearingProxy>(way.untyped), Ear(1, story))
      targets.add(ear, strongly: true)
      ear.failure = error
      let proxy = targets.proxy
      #expect { try proxy.check(1) } throws: { "\($0)" == "\(error)" }
      await #expect { try await proxy.checkLater(1) } throws: { "\($0)" == "\(error)" }
    }

    @Test("a class of proxies takes no method, and its targets are called as before")
    func proxyMethods() throws {
      targets.add(Ear(1, story), strongly: true)
      let (methods, story) = (MethodTable.of(MulticastProxy.self), story)
      #expect(throws: InvocationError.passesOn("hear:", type: SwiftType(MulticastProxy.self))) {
        try methods.register("hear:") { (_: MulticastProxy, _: Int) in story.tell("proxy") }
      }
      let method = try Implementation { (_: MulticastProxy, _: Int) in story.tell("proxy") }
      #expect(methods.replace("hear:", method) == nil)
      #expect(methods.remove("hear:") == nil)
      #expect(methods.selectors.isEmpty)
      targets.proxy.hear(1)
      try Message<Void, Int>("hear:")(2, on: targets.untyped)
      #expect(story.take() == ["1 hears 1", "1 hears 2"])
    }
  }
#endif
