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
    func numberNE(_ a: Int, _ b: Nothing)
    func numberNEN(_ a: Int, _ b: Nothing, _ c: Int)
    func numberNNNE(_ a: Int, _ b: Int, _ c: Int, _ d: Nothing)
    func numberNNNNE(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Nothing)
    func textEN(_ a: Nothing, _ b: String)
    func textNE(_ a: String, _ b: Nothing)
    func textNEN(_ a: String, _ b: Nothing, _ c: String)
    func textNNNE(_ a: String, _ b: String, _ c: String, _ d: Nothing)
    func textNNNNE(_ a: String, _ b: String, _ c: String, _ d: String, _ e: Nothing)
    func thingEN(_ a: Nothing, _ b: Thing)
    func thingNE(_ a: Thing, _ b: Nothing)
    func thingNEN(_ a: Thing, _ b: Nothing, _ c: Thing)
    func thingNNNE(_ a: Thing, _ b: Thing, _ c: Thing, _ d: Nothing)
    func thingNNNNE(_ a: Thing, _ b: Thing, _ c: Thing, _ d: Thing, _ e: Nothing)
    func anyEN(_ a: Nothing, _ b: any Sendable)
    func anyNE(_ a: any Sendable, _ b: Nothing)
    func anyNEN(_ a: any Sendable, _ b: Nothing, _ c: any Sendable)
    func anyNNNE(_ a: any Sendable, _ b: any Sendable, _ c: any Sendable, _ d: Nothing)
    func anyNNNNE(
      _ a: any Sendable, _ b: any Sendable, _ c: any Sendable, _ d: any Sendable, _ e: Nothing)
    func listEN(_ a: Nothing, _ b: [Int])
    func listNE(_ a: [Int], _ b: Nothing)
    func listNEN(_ a: [Int], _ b: Nothing, _ c: [Int])
    func listNNNE(_ a: [Int], _ b: [Int], _ c: [Int], _ d: Nothing)
    func listNNNNE(_ a: [Int], _ b: [Int], _ c: [Int], _ d: [Int], _ e: Nothing)
    func voidEN(_ a: Nothing, _ b: ())
    func voidNE(_ a: (), _ b: Nothing)
    func voidNEN(_ a: (), _ b: Nothing, _ c: ())
    func voidNNNE(_ a: (), _ b: (), _ c: (), _ d: Nothing)
    func voidNNNNE(_ a: (), _ b: (), _ c: (), _ d: (), _ e: Nothing)
    func onlyE(_ a: Only)
    func onlyTE(_ a: Thing, _ b: Only)
    func onlyET(_ a: Only, _ b: Thing)
    func onlyETE(_ a: Only, _ b: Thing, _ c: Only)
    func tupleE(_ a: ())
    func tupleTE(_ a: Thing, _ b: ())
    func tupleET(_ a: (), _ b: Thing)
    func tupleETE(_ a: (), _ b: Thing, _ c: ())
    func typeE(_ a: Int.Type)
    func typeTE(_ a: Thing, _ b: Int.Type)
    func typeET(_ a: Int.Type, _ b: Thing)
    func typeETE(_ a: Int.Type, _ b: Thing, _ c: Int.Type)
    func nothing(_ a: Nothing)
    func zeros(_ a: Nothing, _ b: Only, _ c: (), _ d: Int.Type, _ e: Nothing)
  }

  private final class Hollow: Hollowing {
    var told = 0
    func numberEN(_ a: Nothing, _ b: Int) { told += 1 }
    func numberNE(_ a: Int, _ b: Nothing) { told += 1 }
    func numberNEN(_ a: Int, _ b: Nothing, _ c: Int) { told += 1 }
    func numberNNNE(_ a: Int, _ b: Int, _ c: Int, _ d: Nothing) { told += 1 }
    func numberNNNNE(_ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Nothing) { told += 1 }
    func textEN(_ a: Nothing, _ b: String) { told += 1 }
    func textNE(_ a: String, _ b: Nothing) { told += 1 }
    func textNEN(_ a: String, _ b: Nothing, _ c: String) { told += 1 }
    func textNNNE(_ a: String, _ b: String, _ c: String, _ d: Nothing) { told += 1 }
    func textNNNNE(_ a: String, _ b: String, _ c: String, _ d: String, _ e: Nothing) { told += 1 }
    func thingEN(_ a: Nothing, _ b: Thing) { told += 1 }
    func thingNE(_ a: Thing, _ b: Nothing) { told += 1 }
    func thingNEN(_ a: Thing, _ b: Nothing, _ c: Thing) { told += 1 }
    func thingNNNE(_ a: Thing, _ b: Thing, _ c: Thing, _ d: Nothing) { told += 1 }
    func thingNNNNE(_ a: Thing, _ b: Thing, _ c: Thing, _ d: Thing, _ e: Nothing) { told += 1 }
    func anyEN(_ a: Nothing, _ b: any Sendable) { told += 1 }
    func anyNE(_ a: any Sendable, _ b: Nothing) { told += 1 }
    func anyNEN(_ a: any Sendable, _ b: Nothing, _ c: any Sendable) { told += 1 }
    func anyNNNE(_ a: any Sendable, _ b: any Sendable, _ c: any Sendable, _ d: Nothing) {
      told += 1
    }
    func anyNNNNE(
      _ a: any Sendable, _ b: any Sendable, _ c: any Sendable, _ d: any Sendable, _ e: Nothing
    ) { told += 1 }
    func listEN(_ a: Nothing, _ b: [Int]) { told += 1 }
    func listNE(_ a: [Int], _ b: Nothing) { told += 1 }
    func listNEN(_ a: [Int], _ b: Nothing, _ c: [Int]) { told += 1 }
    func listNNNE(_ a: [Int], _ b: [Int], _ c: [Int], _ d: Nothing) { told += 1 }
    func listNNNNE(_ a: [Int], _ b: [Int], _ c: [Int], _ d: [Int], _ e: Nothing) { told += 1 }
    func voidEN(_ a: Nothing, _ b: ()) { told += 1 }
    func voidNE(_ a: (), _ b: Nothing) { told += 1 }
    func voidNEN(_ a: (), _ b: Nothing, _ c: ()) { told += 1 }
    func voidNNNE(_ a: (), _ b: (), _ c: (), _ d: Nothing) { told += 1 }
    func voidNNNNE(_ a: (), _ b: (), _ c: (), _ d: (), _ e: Nothing) { told += 1 }
    func onlyE(_ a: Only) { told += 1 }
    func onlyTE(_ a: Thing, _ b: Only) { told += 1 }
    func onlyET(_ a: Only, _ b: Thing) { told += 1 }
    func onlyETE(_ a: Only, _ b: Thing, _ c: Only) { told += 1 }
    func tupleE(_ a: ()) { told += 1 }
    func tupleTE(_ a: Thing, _ b: ()) { told += 1 }
    func tupleET(_ a: (), _ b: Thing) { told += 1 }
    func tupleETE(_ a: (), _ b: Thing, _ c: ()) { told += 1 }
    func typeE(_ a: Int.Type) { told += 1 }
    func typeTE(_ a: Thing, _ b: Int.Type) { told += 1 }
    func typeET(_ a: Int.Type, _ b: Thing) { told += 1 }
    func typeETE(_ a: Int.Type, _ b: Thing, _ c: Int.Type) { told += 1 }
    func nothing(_ a: Nothing) { told += 1 }
    func zeros(_ a: Nothing, _ b: Only, _ c: (), _ d: Int.Type, _ e: Nothing) { told += 1 }
  }

  private let rows: [(name: String, send: @Sendable (any Hollowing) -> Void)] = [
    ("numberEN", { $0.numberEN(Nothing(), 1) }),
    ("numberNE", { $0.numberNE(1, Nothing()) }),
    ("numberNEN", { $0.numberNEN(1, Nothing(), 1) }),
    ("numberNNNE", { $0.numberNNNE(1, 1, 1, Nothing()) }),
    ("numberNNNNE", { $0.numberNNNNE(1, 1, 1, 1, Nothing()) }),
    ("textEN", { $0.textEN(Nothing(), "text") }),
    ("textNE", { $0.textNE("text", Nothing()) }),
    ("textNEN", { $0.textNEN("text", Nothing(), "text") }),
    ("textNNNE", { $0.textNNNE("text", "text", "text", Nothing()) }),
    ("textNNNNE", { $0.textNNNNE("text", "text", "text", "text", Nothing()) }),
    ("thingEN", { $0.thingEN(Nothing(), thing) }),
    ("thingNE", { $0.thingNE(thing, Nothing()) }),
    ("thingNEN", { $0.thingNEN(thing, Nothing(), thing) }),
    ("thingNNNE", { $0.thingNNNE(thing, thing, thing, Nothing()) }),
    ("thingNNNNE", { $0.thingNNNNE(thing, thing, thing, thing, Nothing()) }),
    ("anyEN", { $0.anyEN(Nothing(), 7) }),
    ("anyNE", { $0.anyNE(7, Nothing()) }),
    ("anyNEN", { $0.anyNEN(7, Nothing(), 7) }),
    ("anyNNNE", { $0.anyNNNE(7, 7, 7, Nothing()) }),
    ("anyNNNNE", { $0.anyNNNNE(7, 7, 7, 7, Nothing()) }),
    ("listEN", { $0.listEN(Nothing(), [1]) }),
    ("listNE", { $0.listNE([1], Nothing()) }),
    ("listNEN", { $0.listNEN([1], Nothing(), [1]) }),
    ("listNNNE", { $0.listNNNE([1], [1], [1], Nothing()) }),
    ("listNNNNE", { $0.listNNNNE([1], [1], [1], [1], Nothing()) }),
    ("voidEN", { $0.voidEN(Nothing(), ()) }),
    ("voidNE", { $0.voidNE((), Nothing()) }),
    ("voidNEN", { $0.voidNEN((), Nothing(), ()) }),
    ("voidNNNE", { $0.voidNNNE((), (), (), Nothing()) }),
    ("voidNNNNE", { $0.voidNNNNE((), (), (), (), Nothing()) }),
    ("onlyE", { $0.onlyE(Only.one) }),
    ("onlyTE", { $0.onlyTE(thing, Only.one) }),
    ("onlyET", { $0.onlyET(Only.one, thing) }),
    ("onlyETE", { $0.onlyETE(Only.one, thing, Only.one) }),
    ("tupleE", { $0.tupleE(()) }),
    ("tupleTE", { $0.tupleTE(thing, ()) }),
    ("tupleET", { $0.tupleET((), thing) }),
    ("tupleETE", { $0.tupleETE((), thing, ()) }),
    ("typeE", { $0.typeE(Int.self) }),
    ("typeTE", { $0.typeTE(thing, Int.self) }),
    ("typeET", { $0.typeET(Int.self, thing) }),
    ("typeETE", { $0.typeETE(Int.self, thing, Int.self) }),
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
      rows[row].send(targets.face)
      #expect([one.told, other.told] == [1, 1], "\(rows[row].name)")
    }

    @Test("empty values reach each kind of proxy behind a face", arguments: rows.indices)
    func behind(row: Int) {
      let (hollow, other, queue) = (Hollow(), Hollow(), DispatchQueue(label: "empty"))
      let spy = Spy<HollowingProxy>()
      let lanes = Multicast<HollowingProxy>()
      lanes.add(unchecked: hollow, on: .queue(queue))
      lanes.add(unchecked: other, on: .blocking(queue))
      let source = DataSource<HollowingProxy>()
      source.setFallback(hollow)
      let watched = Intercepting<HollowingProxy>(hollow)
      watched.proxy.before { call in
        for index in call.arguments.indices where call.arguments[index] == nil {
          Issue.record("\(rows[row].name): argument \(index)")
        }
      }
      rows[row].send(SingleTarget<HollowingProxy>(hollow).face)
      rows[row].send(source.face)
      rows[row].send(watched.face)
      rows[row].send(lanes.face)
      rows[row].send(spy.face)
      queue.sync {}
      #expect([hollow.told, other.told] == [4, 1], "\(rows[row].name)")
      #expect(spy.transcript.count == 1)
    }

    @Test("empty values may be results, inout variables and awaited")
    func results() async throws {
      let (targets, giver) = (Multicast<GivingProxy>(), Giver())
      targets.add(giver, strongly: true)
      #expect(try targets.face.nothing(thing, Nothing()) == Nothing())
      #expect(try targets.face.only(.one, thing) == .one)
      var given = Nothing()
      try targets.face.change(&given, thing)
      #expect(try await targets.face.wait(thing, given) == Nothing())
      #expect(giver.asked == 4)
    }
  }
#endif
