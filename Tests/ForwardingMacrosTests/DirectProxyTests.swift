// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import Forwarding
  import ForwardingTestSupport
  import Testing

  @Forwardable
  protocol Tolling: AnyObject {
    func tick(_ number: Int)
    @Otherwise(-1) func count() -> Int
    @Otherwise(-1) func size() throws -> Int
  }

  /// Used by one thread at a time.
  private final class Log: @unchecked Sendable { var lines: [String] = [] }

  private class Clock: Tolling {
    let name: String
    let log: Log
    var failure: (any Error)?
    init(_ name: String, _ log: Log) { (self.name, self.log) = (name, log) }
    func tick(_ number: Int) { log.lines.append("\(name) \(number)") }
    func count() -> Int { 1 }
    func size() throws -> Int {
      if let failure { throw failure }
      return 2
    }
  }

  private final class Replaced: Clock {}
  private final class Removed: Tolling {
    var ticks = 0
    func tick(_ number: Int) { ticks += 1 }
    func count() -> Int { 1 }
    func size() throws -> Int { 2 }
  }
  private final class Own: Clock, MethodProviding {
    func ownMethod(for selector: Selector) -> Implementation? {
      selector == "tick:"
        ? try? Implementation { (own: Own, number: Int) in own.log.lines.append("own \(number)") }
        : nil
    }
  }

  @Suite("Proxies that call their targets")
  struct DirectProxyTests {
    private let log = Log()
    private let ticking = Multicast<TollingProxy>()

    private func add<Target: Tolling>(_ target: Target) -> Target {
      ticking.add(target, strongly: true)
      return target
    }

    @Test("a method that replaces a requirement is called, for its class only")
    func replaced() throws {
      _ = add(Clock("a", log))
      let other = add(Replaced("b", log))
      ticking.proxy.tick(1)
      MethodTable.of(Replaced.self).replace(
        "tick:",
        try Implementation { (clock: Replaced, number: Int) in
          clock.log.lines.append("replaced \(number)")
        })
      ticking.proxy.tick(2)
      #expect(log.lines == ["a 1", "b 1", "a 2", "replaced 2"])
      withExtendedLifetime(other) {}
    }

    @Test("a method registered before the proxy knew the class is called")
    func registeredBefore() throws {
      final class Early: Clock {}
      try MethodTable.of(Early.self).register("tick:") { (clock: Early, number: Int) in
        clock.log.lines.append("registered \(number)")
      }
      _ = add(Early("a", log))
      ticking.proxy.tick(1)
      #expect(log.lines == ["registered 1"])
    }

    @Test("a removed method is not found")
    func removed() {
      let removed = add(Removed())
      ticking.proxy.tick(1)
      MethodTable.of(Removed.self).remove("tick:")
      ticking.proxy.tick(2)
      #expect(removed.ticks == 1)
      #expect(ticking.proxy.count() == 1)
    }

    @Test("an object with its own methods is asked for them by a message, and not by its protocol")
    func own() throws {
      _ = add(Own("a", log))
      ticking.proxy.tick(1)
      try Message<Void, Int>("tick:")(2, on: ticking.untyped)
      #expect(log.lines == ["a 1", "own 2"])
    }

    @Test("a proxy that calls itself without end is refused, and all steps end")
    func depth() throws {
      final class Again: Clock, @unchecked Sendable {
        var proxy: (any Tolling)?
        var depth = 0
        override func tick(_ number: Int) {
          depth += 1
          proxy?.tick(number + 1)
        }
      }
      let again = add(Again("a", log))
      again.proxy = ticking.proxy
      let failures = Guarded(0)
      ticking.onDiagnostic = { _ in failures.withLock { $0 += 1 } }
      // With a sanitizer, 200 steps need more than a thread of the pool has.
      nonisolated(unsafe) let multicast = ticking
      try onStack(of: 16 << 20) { multicast.proxy.tick(0) }
      #expect(again.depth == 200)
      #expect(failures.read { $0 } == 1)
      again.proxy = nil
      ticking.proxy.tick(0)
      #expect(again.depth == 201)
    }

    @Test(
      "every error of a target reaches its sender, also one that a proxy has thrown to it",
      arguments: [
        ForwardingError.nobodyAnswered("size") as any Error, ForwardingError.targetGone("size"),
        InvocationError.unrecognizedSelector("size", type: nil, nearest: nil),
      ], ProxyWay.allCases)
    func errors(_ error: any Error, _ way: ProxyWay) {
      let (clock, ticking) = (Clock("a", log), Multicast<TollingProxy>(way.untyped))
      clock.failure = error
      ticking.add(clock, strongly: true)
      #expect(throws: (any Error).self) { try ticking.proxy.size() }
    }

    @Test("a class of proxies takes no method, and its targets are called as before")
    func proxyMethods() throws {
      let (ticking, log) = (Multicast<TollingProxy>(), Log())
      ticking.add(Clock("a", log), strongly: true)
      let methods = MethodTable.of(MulticastProxy.self)
      #expect(throws: InvocationError.passesOn("tick:", type: SwiftType(MulticastProxy.self))) {
        try methods.register("tick:") { (_: MulticastProxy, number: Int) in
          log.lines.append("proxy \(number)")
        }
      }
      let method = try Implementation { (_: MulticastProxy, _: Int) in log.lines.append("proxy") }
      #expect(methods.replace("tick:", method) == nil)
      #expect(methods.remove("tick:") == nil)
      #expect(methods.selectors.isEmpty)
      ticking.proxy.tick(1)
      try Message<Void, Int>("tick:")(2, on: ticking.untyped)
      #expect(log.lines == ["a 1", "a 2"])
    }
  }
#endif
