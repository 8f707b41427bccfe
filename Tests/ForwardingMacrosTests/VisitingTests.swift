// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import ProxyProtocols
  @testable import Forwarding
  import Testing

  /// A subclass gets every call as a message.
  private final class Watched: MulticastProxy, @unchecked Sendable {}

  @Suite("Visiting the targets of a multicast")
  struct VisitingTests {
    private static func names(_ delegates: Multicast<ChatDelegateProxy>) -> [String] {
      var names: [String] = []
      delegates.forEach { names.append(($0 as? Screen)?.name ?? "\(type(of: $0))") }
      return names
    }

    @Test("all targets on this thread are visited in order", arguments: [false, true])
    func order(isWatched: Bool) {
      let delegates = Multicast<ChatDelegateProxy>(isWatched ? Watched() : MulticastProxy())
      let screens = ["one", "two", "three"].map { Screen($0) }
      defer { withExtendedLifetime(screens) {} }
      delegates.add(screens[0])
      delegates.add(screens[1], strongly: true)
      delegates.add(screens[2], priority: 1)
      #expect(Self.names(delegates) == ["three", "one", "two"])
    }

    @Test(
      "a target that is removed, blocked or dead is not visited, and none on a queue",
      arguments: [false, true])
    func leftOut(isWatched: Bool) {
      let delegates = Multicast<ChatDelegateProxy>(isWatched ? Watched() : MulticastProxy())
      let screens = ["removed", "blocked", "queued", "left"].map { Screen($0) }
      defer { withExtendedLifetime(screens) {} }
      let removed = delegates.add(screens[0])
      let blocked = delegates.add(screens[1])
      delegates.add(unchecked: screens[2], on: .queue(DispatchQueue(label: "visits")))
      delegates.add(screens[3])
      delegates.add(Screen("dead"))
      #expect(Self.names(delegates) == ["removed", "blocked", "left"])
      delegates.remove(removed)
      delegates.suspend(blocked)
      #expect(Self.names(delegates) == ["left"])
      delegates.resume(blocked)
      #expect(Self.names(delegates) == ["blocked", "left"])
    }

    @Test("an error of the body ends the visit")
    func errors() {
      let delegates = Multicast<ChatDelegateProxy>()
      let screens = ["one", "two"].map { Screen($0) }
      defer { withExtendedLifetime(screens) {} }
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

    @Test("a visit ends a once-only registration, and the body may change the targets")
    func changes() {
      let delegates = Multicast<ChatDelegateProxy>()
      let screens = ["one", "two", "three"].map { Screen($0) }
      defer { withExtendedLifetime(screens) {} }
      delegates.add(screens[0], once: true)
      delegates.add(screens[1])
      var names: [String] = []
      delegates.forEach { target in
        names.append((target as? Screen)?.name ?? "")
        delegates.remove(screens[1])
        delegates.add(screens[2])
        delegates.proxy.chat(Chat("garden"), didReceive: ChatMessage("hello"))
      }
      #expect(names == ["one"])
      #expect(screens.map(\.seen.count) == [0, 0, 1])
      #expect(Self.names(delegates) == ["three"])
    }

    @Test("a visit may end early, and give what it found", arguments: [false, true])
    func ends(isWatched: Bool) {
      let delegates = Multicast<ChatDelegateProxy>(isWatched ? Watched() : MulticastProxy())
      let screens = ["one", "two", "three"].map { Screen($0) }
      defer { withExtendedLifetime(screens) {} }
      for screen in screens { delegates.add(screen, once: screen === screens[2]) }
      func name(_ target: any ChatDelegate) -> String { (target as? Screen)?.name ?? "" }
      #expect(delegates.first { name($0) == "two" } === screens[1])
      #expect(!delegates.allSatisfy { name($0) == "one" })
      #expect(delegates.count == 3)
      #expect(delegates.map { name($0) } == ["one", "two", "three"])
    }

    @Test("a generic function that does not know of the proxy makes, fills and empties one, too")
    func generic() {
      func filled<Subject>(_ target: Subject) -> Multicast<Subject> {
        let made = Multicast<Subject>()
        made.add(target)
        return made
      }
      let inner = Multicast<MeterProxy>()
      inner.add(Total(sum: 3))
      let outer = filled(inner.proxy)
      #expect(outer.proxy.sum == 3)
      #expect(outer.map { $0.sum } == [3])
      #expect(outer.remove(inner.proxy) == 1)
      #expect(outer.isEmpty)
    }

    @Test("a visit that does not know of the proxy ends the program with a sentence")
    func unknown() async {
      await #expect(processExitsWith: .failure) {
        visitAll(Multicast<MeterProxy>())
      }
    }

    @Test("values are visited as they are, proxies as proxies of the same targets")
    func kinds() {
      let meters = Multicast<MeterProxy>()
      let inner = Multicast<MeterProxy>()
      inner.add(Total(sum: 3))
      meters.add(Total(sum: 1))
      meters.add(inner.proxy)
      var sums: [Int] = []
      meters.forEach { sums.append($0.sum) }
      #expect(sums == [1, 3])
    }
  }

  private func visitAll<Subject>(_ all: Multicast<Subject>) { all.forEach { _ in } }

  private struct Total: Meter {
    var sum: Int
    var limit: Int?
    mutating func add(_ number: Int) { sum += number }
    subscript(key key: String) -> Int? {
      get { nil }
      set {}
    }
    mutating func reset() {}
    mutating func load(_ number: Int) async {}
  }
#endif
