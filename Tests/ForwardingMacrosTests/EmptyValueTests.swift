// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import ForwardingTesting
  import Testing

  struct Nothing: Equatable, Sendable {}
  enum Only: Sendable { case one }
  private final class Thing: Sendable {}
  private let thing = Thing()

  @Forwardable
  fileprivate protocol Hollowing: AnyObject {
    func numberEN(_ a: Nothing, _ b: Int)
    func textNE(_ a: String, _ b: Nothing)
    func thingNEN(_ a: Thing, _ b: Nothing, _ c: Thing)
    func anyNNNE(_ a: any Sendable, _ b: any Sendable, _ c: any Sendable, _ d: Nothing)
    func listNNNNE(_ a: [Int], _ b: [Int], _ c: [Int], _ d: [Int], _ e: Nothing)
    func voidNEN(_ a: (), _ b: Nothing, _ c: ())
    func onlyETE(_ a: Only, _ b: Thing, _ c: Only)
    func tupleTE(_ a: Thing, _ b: ())
    func typeET(_ a: Int.Type, _ b: Thing)
    func nothing(_ a: Nothing)
    func zeros(_ a: Nothing, _ b: Only, _ c: (), _ d: Int.Type, _ e: Nothing)
  }

  private final class Hollow: Hollowing {
    var told = 0
    func numberEN(_ a: Nothing, _ b: Int) { told += 1 }
    func textNE(_ a: String, _ b: Nothing) { told += 1 }
    func thingNEN(_ a: Thing, _ b: Nothing, _ c: Thing) { told += 1 }
    func anyNNNE(_ a: any Sendable, _ b: any Sendable, _ c: any Sendable, _ d: Nothing) {
      told += 1
    }
    func listNNNNE(_ a: [Int], _ b: [Int], _ c: [Int], _ d: [Int], _ e: Nothing) { told += 1 }
    func voidNEN(_ a: (), _ b: Nothing, _ c: ()) { told += 1 }
    func onlyETE(_ a: Only, _ b: Thing, _ c: Only) { told += 1 }
    func tupleTE(_ a: Thing, _ b: ()) { told += 1 }
    func typeET(_ a: Int.Type, _ b: Thing) { told += 1 }
    func nothing(_ a: Nothing) { told += 1 }
    func zeros(_ a: Nothing, _ b: Only, _ c: (), _ d: Int.Type, _ e: Nothing) { told += 1 }
  }

  private let rows: [(name: String, send: @Sendable (any Hollowing) -> Void)] = [
    ("numberEN", { $0.numberEN(Nothing(), 1) }),
    ("textNE", { $0.textNE("text", Nothing()) }),
    ("thingNEN", { $0.thingNEN(thing, Nothing(), thing) }),
    ("anyNNNE", { $0.anyNNNE(7, 7, 7, Nothing()) }),
    ("listNNNNE", { $0.listNNNNE([1], [1], [1], [1], Nothing()) }),
    ("voidNEN", { $0.voidNEN((), Nothing(), ()) }),
    ("onlyETE", { $0.onlyETE(Only.one, thing, Only.one) }),
    ("tupleTE", { $0.tupleTE(thing, ()) }),
    ("typeET", { $0.typeET(Int.self, thing) }),
    ("nothing", { $0.nothing(Nothing()) }),
    ("zeros", { $0.zeros(Nothing(), Only.one, (), Int.self, Nothing()) }),
  ]

  @Forwardable
  private protocol Giving: AnyObject {
    func nothing(_ thing: Thing, _ given: Nothing) throws -> Nothing
    func only(_ given: Only, _ thing: Thing) throws -> Only
    func change(_ given: inout Nothing, _ thing: Thing) throws
    func wait(_ thing: Thing, _ given: Nothing) async throws -> Nothing
  }

  private final class Giver: Giving {
    var asked = 0
    func nothing(_ thing: Thing, _ given: Nothing) throws -> Nothing {
      asked += 1
      return given
    }
    func only(_ given: Only, _ thing: Thing) throws -> Only {
      asked += 1
      return given
    }
    func change(_ given: inout Nothing, _ thing: Thing) throws {
      asked += 1
      given = Nothing()
    }
    func wait(_ thing: Thing, _ given: Nothing) async throws -> Nothing {
      asked += 1
      return given
    }
  }

  @Suite("Values without memory, with others and at any position")
  struct EmptyValueTests {
    @Test("empty values reach the targets of a multicast", arguments: rows.indices)
    func multicast(row: Int) {
      let (targets, one, other) = (Multicast<HollowingProxy>(), Hollow(), Hollow())
      targets.add(one, strongly: true)
      targets.add(other, strongly: true)
      rows[row].send(targets.proxy)
      #expect([one.told, other.told] == [1, 1], "\(rows[row].name)")
    }

    @Test("empty values reach each kind of proxy behind a proxy", arguments: rows.indices)
    func behind(row: Int) {
      let (hollow, other, queue) = (Hollow(), Hollow(), DispatchQueue(label: "empty"))
      let spy = Spy<HollowingProxy>()
      let lanes = Multicast<HollowingProxy>()
      lanes.add(unchecked: hollow, on: .queue(queue))
      lanes.add(unchecked: other, on: .blocking(queue))
      let source = DataSource<HollowingProxy>()
      source.setFallback(hollow)
      let watched = Intercepting<HollowingProxy>(hollow)
      watched.untyped.before { call in
        for index in call.arguments.indices where call.arguments[index] == nil {
          Issue.record("\(rows[row].name): argument \(index)")
        }
      }
      rows[row].send(SingleTarget<HollowingProxy>(hollow).proxy)
      rows[row].send(source.proxy)
      rows[row].send(watched.proxy)
      rows[row].send(lanes.proxy)
      rows[row].send(spy.proxy)
      queue.sync {}
      #expect([hollow.told, other.told] == [4, 1], "\(rows[row].name)")
      #expect(spy.transcript.count == 1)
    }

    @Test("empty values may be results, inout variables and awaited")
    func results() async throws {
      let (targets, giver) = (Multicast<GivingProxy>(), Giver())
      targets.add(giver, strongly: true)
      #expect(try targets.proxy.nothing(thing, Nothing()) == Nothing())
      #expect(try targets.proxy.only(.one, thing) == .one)
      var given = Nothing()
      try targets.proxy.change(&given, thing)
      #expect(try await targets.proxy.wait(thing, given) == Nothing())
      #expect(giver.asked == 4)
    }
  }
#endif
