// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import Forwarding
  import Testing

  private enum Turned: Error, Equatable { case closed, unknown }

  /// Requirements without a result, which throw where no target answers.
  @Forwardable
  private protocol Guarding: AnyObject, Sendable {
    @Otherwise(throw: Turned.closed) func authorize(_ name: String) throws
    @Otherwise(throw: Turned.closed) func admit(_ name: String) throws(Turned)
    @Otherwise(throw: Turned.closed) func authorizeLater(_ name: String) async throws
    @Otherwise(throw: Turned.closed) func admitLater(_ name: String) async throws(Turned)
    @Otherwise(throw: Turned.closed) @Optional func inspect(_ name: String) throws
    @Otherwise(throw: Turned.closed) func weigh<Value>(_ value: Value) throws
    @Otherwise(throw: Turned.closed) static func make() throws(Turned)
  }

  private final class Doorman: Guarding {
    func authorize(_ name: String) throws { try admit(name) }
    func admit(_ name: String) throws(Turned) { if name.isEmpty { throw .unknown } }
    func authorizeLater(_ name: String) async throws { try admit(name) }
    func admitLater(_ name: String) async throws(Turned) { try admit(name) }
    func weigh<Value>(_ value: Value) throws {}
    static func make() throws(Turned) {}
  }

  @Suite("A requirement without a result fails closed with '@Otherwise(throw:)'")
  struct GuardTests {
    private static let calls: [@Sendable (any Guarding, String) async throws -> Void] = [
      { try $0.authorize($1) }, { try $0.admit($1) }, { try await $0.authorizeLater($1) },
      { try await $0.admitLater($1) },
    ]

    @Test("without a target it throws the error", arguments: FaceWay.allCases)
    func noTarget(_ way: FaceWay) async throws {
      let guards = Multicast<GuardingProxy>(way.proxy)
      for call in Self.calls {
        await #expect(throws: Turned.closed) { try await call(guards.face, "Ann") }
      }
      #expect(throws: Turned.closed) { try guards.face.inspect("Ann") }
      if way == .calls {
        #expect(throws: Turned.closed) { try guards.face.weigh(1) }
      } else {
        #expect(throws: (any Error).self) { try guards.face.weigh(1) }
      }
      #expect(throws: Turned.closed) { try GuardingProxy.make() }
    }

    @Test("nothing, and the target's error, come from a target", arguments: FaceWay.allCases)
    func target(_ way: FaceWay) async throws {
      let guards = Multicast<GuardingProxy>(way.proxy)
      let doorman = Doorman()
      guards.add(doorman)
      for call in Self.calls {
        try await call(guards.face, "Ann")
        await #expect(throws: Turned.unknown) { try await call(guards.face, "") }
      }
      // The class leaves it out.
      for _ in 0..<2 { #expect(throws: Turned.closed) { try guards.face.inspect("Ann") } }
    }

    @Test("a single target and a data source fail closed, too")
    func others() async {
      let single = SingleTarget<GuardingProxy>()
      let source = DataSource<GuardingProxy>()
      for call in Self.calls {
        await #expect(throws: Turned.closed) { try await call(single.face, "Ann") }
        await #expect(throws: Turned.closed) { try await call(source.face, "Ann") }
      }
    }

    @Test("a target on a queue that is not awaited has not answered", arguments: FaceWay.allCases)
    func queued(_ way: FaceWay) throws {
      let guards = Multicast<GuardingProxy>(way.proxy)
      let doorman = Doorman()
      let queue = DispatchQueue(label: "guards")
      guards.add(doorman, on: .queue(queue))
      #expect(throws: Turned.closed) { try guards.face.authorize("Ann") }
      #expect(throws: Turned.closed) { try guards.face.admit("Ann") }
      guards.add(Doorman(), strongly: true)
      try guards.face.authorize("Ann")
      queue.sync {}
    }

    @Test("a multicast behind another one fails closed")
    func nested() {
      let guards = Multicast<GuardingProxy>()
      let inner = Multicast<GuardingProxy>()
      guards.add(inner.face)
      #expect(throws: Turned.closed) { try guards.face.authorize("Ann") }
      #expect(throws: Turned.closed) { try guards.face.admit("Ann") }
    }
  }
#endif
