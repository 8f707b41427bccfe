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
  }

  private final class Doorman: Guarding {
    func authorize(_ name: String) throws { try admit(name) }
    func admit(_ name: String) throws(Turned) { if name.isEmpty { throw .unknown } }
  }

  @Suite("A requirement without a result fails closed with '@Otherwise(throw:)'")
  struct GuardTests {
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
