// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import Forwarding
  import ForwardingTestSupport
  import Foundation
  import Testing
  import TypeEncodings

  private enum Shut: Error, Equatable { case closed, broken }

  /// Is shut unless a target says otherwise.
  @Forwardable
  private protocol Gate: AnyObject, Sendable {
    @Otherwise(throw: Shut.closed) func pass(_ number: Int) throws(Shut) -> Int
    @Otherwise(throw: Shut.closed) func passLater(_ number: Int) async throws(Shut) -> Int
    @Otherwise(throw: Shut.closed) func visit(_ number: Int) throws -> Int
    @Otherwise(throw: Shut.closed) func visitLater(_ number: Int) async throws -> Int
    @Otherwise(throw: Shut.closed) func admit(_ number: Int) throws(Shut)
    @Otherwise(throw: Shut.closed) func admitLater(_ number: Int) async throws(Shut)
    @Otherwise(throw: Shut.closed) func authorize(_ number: Int) throws
    @Otherwise(throw: Shut.closed) func authorizeLater(_ number: Int) async throws
    @Optional @Otherwise(throw: Shut.closed) func bypassQuietly(_ number: Int) throws
    @Otherwise(throw: Shut.closed) var width: Int { get throws(Shut) }
    @Otherwise(throw: Shut.closed) subscript(number: Int) -> Int { get throws(Shut) }
    @Otherwise(throw: Shut.closed) func weigh<Value>(_ value: Value) throws(Shut) -> Int
    @Optional @Otherwise(throw: Shut.closed) func bypass(_ number: Int) throws(Shut) -> Int
    @Optional @Otherwise(throw: Shut.closed)
    func bypassLater(_ number: Int) async throws(Shut) -> Int
    @Otherwise(throw: Shut.closed) static func make() throws(Shut) -> Int
  }

  private final class Keeper: Gate {
    let error: Shut?
    init(_ error: Shut? = nil) { self.error = error }

    private func answer(_ number: Int) throws(Shut) -> Int {
      if let error { throw error }
      return number
    }
    func pass(_ number: Int) throws(Shut) -> Int { try answer(number) }
    func passLater(_ number: Int) async throws(Shut) -> Int { try answer(number) }
    func visit(_ number: Int) throws -> Int { try answer(number) }
    func visitLater(_ number: Int) async throws -> Int { try answer(number) }
    func admit(_ number: Int) throws(Shut) { _ = try answer(number) }
    func admitLater(_ number: Int) async throws(Shut) { _ = try answer(number) }
    func authorize(_ number: Int) throws { _ = try answer(number) }
    func authorizeLater(_ number: Int) async throws { _ = try answer(number) }
    var width: Int { get throws(Shut) { try answer(5) } }
    subscript(number: Int) -> Int { get throws(Shut) { try answer(number) } }
    func weigh<Value>(_ value: Value) throws(Shut) -> Int { try answer(5) }
    static func make() throws(Shut) -> Int { 5 }
  }

  /// Throws what no requirement of the protocol may.
  private final class Stranger: MethodDeclaring, Sendable {
    static func declareMethods(_ methods: MethodDeclarations) {
      for name in ["pass:", "passLater:", "bypass:", "bypassLater:"] as [Selector] {
        methods.register(name) { (_: Stranger, _: Int) throws -> Int in throw CancellationError() }
      }
      for name in ["admit:", "admitLater:"] as [Selector] {
        methods.register(name) { (_: Stranger, _: Int) throws -> Void in throw CancellationError() }
      }
      methods.register("width") { (_: Stranger) throws -> Int in throw CancellationError() }
    }
  }

  /// A proxy without a target. What it says of `width` is about another message.
  private final class Unanswering: ForwardingProxy, @unchecked Sendable {
    // SAFETY: it has no state.
    override func signature(for invocation: Invocation) -> MethodSignature? {
      invocation.methodSignature
    }
    override func forward(_ invocation: Invocation) throws {
      let selector = invocation.selector
      throw ForwardingError.nobodyAnswered(selector == "width" ? "height" : selector)
    }
  }

  @Suite("A requirement with '@Otherwise(throw:)' fails closed")
  struct OtherwiseThrownTests {
    private static let typed: [(name: String, send: @Sendable (any Gate) async throws -> Int)] = [
      ("pass", { try $0.pass(5) }), ("passLater", { try await $0.passLater(5) }),
      ("width", { try $0.width }), ("bypass", { try $0.bypass(5) }),
      ("bypassLater", { try await $0.bypassLater(5) }),
      (
        "admit",
        {
          try $0.admit(5)
          return 5
        }
      ),
      (
        "admitLater",
        {
          try await $0.admitLater(5)
          return 5
        }
      ),
    ]
    private static let others: [(name: String, send: @Sendable (any Gate) async throws -> Int)] = [
      ("visit", { try $0.visit(5) }), ("visitLater", { try await $0.visitLater(5) }),
      ("subscript", { try $0[5] }), ("weigh", { try $0.weigh("") }),
      (
        "authorize",
        {
          try $0.authorize(5)
          return 5
        }
      ),
      (
        "authorizeLater",
        {
          try await $0.authorizeLater(5)
          return 5
        }
      ),
    ]

    private func outcome(
      _ send: (any Gate) async throws -> Int, _ proxy: any Gate
    ) async -> String {
      do { return "\(try await send(proxy))" } catch { return "\(error)" }
    }

    @Test("where there is no target", arguments: ProxyWay.allCases)
    func empty(_ way: ProxyWay) async {
      let story = Story()
      let gates = Multicast<GateProxy>(way.untyped)
      story.listen(to: gates.untyped)
      for (name, send) in Self.typed + Self.others where way == .calls || name != "weigh" {
        #expect(await outcome(send, gates.proxy) == "closed", "\(name)")
        #expect(await outcome(send, DataSource<GateProxy>().proxy) == "closed", "\(name)")
        #expect(await outcome(send, SingleTarget<GateProxy>().proxy) == "closed", "\(name)")
      }
      #expect(story.take() == [])
      #expect(throws: Shut.closed) { try GateProxy.make() }
    }

    @Test(
      "where no target answers the sender: one on a queue, or another proxy without targets",
      arguments: ProxyWay.allCases)
    func unanswered(_ way: ProxyWay) async throws {
      let (queued, outer) = (Multicast<GateProxy>(way.untyped), Multicast<GateProxy>(way.untyped))
      let (inner, queue) = (Multicast<GateProxy>(), DispatchQueue(label: "gates"))
      queued.add(Keeper(), strongly: true, on: .queue(queue))
      outer.add(inner.proxy)
      for (name, send) in Self.typed + Self.others where !name.hasSuffix("Later") && name != "weigh"
      {
        #expect(await outcome(send, queued.proxy) == "closed", "\(name)")
        #expect(await outcome(send, outer.proxy) == "closed", "\(name)")
      }
      queued.add(Keeper(), strongly: true)
      try queued.proxy.authorize(5)
      queue.sync {}
    }

    @Test("where the target left it out", arguments: ProxyWay.allCases)
    func leftOut(_ way: ProxyWay) async {
      let gates = Multicast<GateProxy>(way.untyped)
      gates.add(Keeper(), strongly: true)
      for (name, send) in Self.typed {
        let expected = name.hasPrefix("bypass") ? "closed" : "5"
        for _ in 0..<2 { #expect(await outcome(send, gates.proxy) == expected, "\(name)") }
      }
      for _ in 0..<2 { #expect(throws: Shut.closed) { try gates.proxy.bypassQuietly(5) } }
      // A call of the object itself ends in the same way.
      #expect(throws: Shut.closed) { try Keeper().bypass(5) }
    }

    @Test(
      "where a target fails, with its error if the requirement has that",
      arguments: ProxyWay.allCases)
    func failing(_ way: ProxyWay) async {
      let gates = Multicast<GateProxy>(way.untyped)
      gates.add(Keeper(.broken), strongly: true)
      for (name, send) in Self.typed + Self.others
      where !name.hasPrefix("bypass") && (way == .calls || name != "weigh") {
        #expect(await outcome(send, gates.proxy) == "broken", "\(name)")
      }
    }

    @Test("where a target fails with another error, which is told", arguments: ProxyWay.allCases)
    func failingOtherwise(_ way: ProxyWay) async {
      let story = Story()
      let gates = Multicast<GateProxy>(way.untyped)
      story.listen(to: gates.untyped)
      gates.untyped.add(Stranger(), strongly: true)
      for (name, send) in Self.typed {
        #expect(await outcome(send, gates.proxy) == "closed", "\(name)")
        #expect(story.take().count == 1, "\(name)")
      }
    }

    @Test("where a proxy of one's own says that no target answered, and that is no event")
    func ownProxy() async {
      await #expect(processExitsWith: .success) {
        let events = LockedValue<[Selector?]>([])
        ForwardingEvent.destination = .handler { event in
          events.withLock { $0.append(event.selector) }
        }
        let gate = GateProxy(forwardingTo: Unanswering())
        for _ in 0..<2 { require((try? gate.pass(5)) == nil) }
        require((try? await gate.passLater(5)) == nil)
        require(events.withLock { $0.isEmpty }, "\(events.withLock { $0 })")
        // The error of another message is lost.
        require((try? gate.width) == nil)
        require(events.withLock { $0 } == ["width"], "\(events.withLock { $0 })")
        exit(EXIT_SUCCESS)
      }
    }

    @Test("and a structure that is a target answers as any other")
    func values() async throws {
      let doors = Multicast<DoorProxy>()
      #expect(throws: Shut.closed) { try doors.proxy.enter(1) }
      doors.add(Opening())
      #expect(try doors.proxy.enter(1) == 1)
      #expect(throws: Shut.closed) { try doors.proxy.leave(1) }
      await #expect(throws: Shut.closed) { try await doors.proxy.leaveLater(1) }
      doors.add(BackDoor())
      #expect(try doors.proxy.leave(1) == 2)
      #expect(try await doors.proxy.leaveLater(1) == 3)
    }
  }

  @Forwardable
  private protocol Door: Sendable {
    @Otherwise(throw: Shut.closed) mutating func enter(_ number: Int) throws(Shut) -> Int
    @Optional @Otherwise(throw: Shut.closed) func leave(_ number: Int) throws(Shut) -> Int
    @Optional @Otherwise(throw: Shut.closed)
    func leaveLater(_ number: Int) async throws(Shut) -> Int
  }

  private struct Opening: Door {
    mutating func enter(_ number: Int) throws(Shut) -> Int { number }
  }

  private struct BackDoor: Door {
    mutating func enter(_ number: Int) throws(Shut) -> Int { number }
    func leave(_ number: Int) throws(Shut) -> Int { 2 * number }
    func leaveLater(_ number: Int) async throws(Shut) -> Int { 3 * number }
  }
#endif
