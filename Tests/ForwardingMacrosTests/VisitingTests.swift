// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import ProxyProtocols
  import Forwarding
  import Testing

  @Suite("Visiting the targets of a multicast")
  struct VisitingTests {
    private let screens = ["one", "two", "three"].map { Screen($0) }

    private static func name(_ target: any ChatDelegate) -> String {
      (target as? Screen)?.name ?? "\(type(of: target))"
    }

    @Test("a target on a queue is not visited", arguments: ProxyWay.allCases)
    func leftOut(_ way: ProxyWay) {
      let delegates = Multicast<ChatDelegateProxy>(way.untyped)
      let queue = DispatchQueue(label: "visits")
      delegates.add(unchecked: screens[0], on: .queue(queue))
      delegates.add(unchecked: screens[1], on: .blocking(queue))
      delegates.add(screens[2])
      #expect(delegates.map { Self.name($0) } == ["three"])
    }

    @Test("an error of the body ends the visit")
    func errors() {
      let delegates = Multicast<ChatDelegateProxy>()
      for screen in screens { delegates.add(screen) }
      var visits = 0
      #expect(throws: Refusal.self) {
        try delegates.forEach { _ in
          visits += 1
          throw Refusal()
        }
      }
      #expect(visits == 1)
    }

    @Test("a visit may end early, and give what it found", arguments: ProxyWay.allCases)
    func ends(_ way: ProxyWay) {
      let delegates = Multicast<ChatDelegateProxy>(way.untyped)
      for screen in screens { delegates.add(screen, once: screen === screens[2]) }
      #expect(delegates.first { Self.name($0) == "two" } === screens[1])
      #expect(!delegates.allSatisfy { Self.name($0) == "one" })
      #expect(delegates.count == 3)
      #expect(delegates.map { Self.name($0) } == ["one", "two", "three"])
    }
  }
#endif
