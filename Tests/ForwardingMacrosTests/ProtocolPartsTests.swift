// SPDX-License-Identifier: Apache-2.0
#if Macros
  import ProxyProtocols
  import Forwarding
  import Foundation
  import Synchronization
  import Testing

  private final class Someone: Identified {
    var calls = 0
    func call() { calls += 1 }
    static func == (one: Someone, other: Someone) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    var description: String { "someone" }
  }

  private final class Part: Conditional {
    let number: Int
    init(_ number: Int) { self.number = number }
    func begin(_ done: @escaping Done) { done(number) }
    static var kind: String { "part" }
    static func make(_ number: Int) -> Int { number }
    func find(in text: String, default number: Int) -> Int? { number + text.count }
    var size: Int? {
      get throws {
        if number < 0 { throw CancellationError() }
        return number
      }
    }
    var weight: Int? { get async throws { number * 2 } }
  }

  @Forwardable(as: (any Guest).self)
  protocol GuestList: AnyObject {
    func enter(_ room: String)
    @Otherwise(false) func leave(_ room: String) -> Bool
  }

  private final class Visitor: NSObject, Guest {
    var rooms: [String] = []
    func enter(_ room: String) { rooms.append(room) }
    func leave(_ room: String) -> Bool { rooms.contains(room) }
  }

  @Suite("Parts of a protocol")
  struct ProtocolPartsTests {
    let parts = Multicast<ConditionalProxy>()
    private let part = Part(4)

    @Test("requirements may be conditional, of the type, and have keywords as labels")
    func members() {
      parts.add(part)
      let done = Mutex(0)
      parts.proxy.begin { number in done.withLock { $0 += number } }
      #expect(done.withLock { $0 } == 4)
      #expect(ConditionalProxy.kind == "nobody", "a requirement of the type has its default")
      #expect(ConditionalProxy.make(5) == 1)
      #expect(parts.proxy.find(in: "abc", default: 1) == 4)
    }

    @Test("properties may throw, be async, or be optional")
    func properties() async throws {
      parts.add(part)
      #expect(try parts.proxy.size == 4)
      #expect(try await parts.proxy.weight == 8)
      #expect(parts.proxy.title == nil)
      let broken = Part(-1)
      parts.add(broken)
      #expect(throws: CancellationError.self) { try parts.proxy.size }
    }

    @Test("a proxy is equal to itself only")
    func identity() {
      let (some, others) = (Multicast<IdentifiedProxy>(), Multicast<IdentifiedProxy>())
      let someone = Someone()
      some.add(someone)
      some.proxy.call()
      #expect(someone.calls == 1)
      #expect(some.proxy == some.proxy)
      #expect(some.proxy != others.proxy)
      #expect(Set([some.proxy, others.proxy, some.proxy]).count == 2)
      #expect(some.proxy.id == ObjectIdentifier(some.proxy))
      #expect("\(some.proxy)" == "IdentifiedProxy")
    }

    @Test("a protocol of another module may be restated")
    func foreign() throws {
      let guests = Multicast<GuestListProxy>()
      let (first, second) = (Visitor(), Visitor())
      guests.add(first)
      guests.add(second)
      let proxy: any Guest = guests.proxy
      proxy.enter("hall")
      #expect(first.rooms == ["hall"])
      #expect(second.rooms == ["hall"])
      #expect(proxy.leave("hall"))
      proxy.rest()
      #expect(try guests.messages.leave.all("attic") == [false, false])
      #expect(proxy.isEqual(guests.proxy))
      #expect(!proxy.isEqual(first))
    }
  }
#endif
