// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Forwarding
  import Synchronization
  import Testing

  @Forwardable
  private protocol Asking: AnyObject, Sendable {
    @Otherwise(-1) func weigh(_ number: Int) -> Int
    @Otherwise(-1) func weighLater(_ number: Int) async -> Int
    @Optional @Otherwise(-1) func guess(_ number: Int) -> Int
    @Otherwise(0, combine: +) func total(_ number: Int) -> Int
    @Otherwise(0, combine: +) func totalLater(_ number: Int) async -> Int
  }

  private final class Scale: Asking {
    let factor: Int
    init(_ factor: Int) { self.factor = factor }
    func weigh(_ number: Int) -> Int { factor * number }
    func weighLater(_ number: Int) async -> Int { factor * number }
    func guess(_ number: Int) -> Int { factor * number }
    func total(_ number: Int) -> Int { factor * number }
    func totalLater(_ number: Int) async -> Int { factor * number }
  }

  /// Leaves out the optional requirement.
  private final class Brief: Asking {
    func weigh(_ number: Int) -> Int { number }
    func weighLater(_ number: Int) async -> Int { number }
    func total(_ number: Int) -> Int { number }
    func totalLater(_ number: Int) async -> Int { number }
  }

  @Suite("A proxy that is a target of a proxy is its proxy")
  struct ProxyAsTargetTests {
    @Test("the '@Otherwise' of a proxy without targets is not an answer")
    func empty() async {
      let many = Multicast<AskingProxy>()
      let source = DataSource<AskingProxy>()
      let single = SingleTarget<AskingProxy>()
      for proxy in [many.proxy, source.proxy, single.proxy] {
        let asked = DataSource<AskingProxy>()
        asked.add(proxy)
        asked.add(Scale(2), strongly: true)
        #expect(asked.targets.count == 2)
        #expect(asked.contains(proxy))
        if proxy !== single.proxy {
          #expect(asked.proxy.weigh(5) == 10)
          #expect(await asked.proxy.weighLater(5) == 10)
        }
        #expect(asked.remove(proxy) == 1)
        #expect(asked.count == 1)
      }
    }

    private struct Refused: Error {}

    @Test("an answer wins over a failure, also through a proxy in front of another")
    func failing() async throws {
      let inner = Multicast<AskingProxy>()
      inner.add(Scale(2), strongly: true)
      inner.on(\.weigh) { _ in throw Refused() }
      let failing = ClosureTarget()
      try failing.register("weighLater:") { (_: Int) throws -> Int in throw Refused() }
      inner.untyped.add(failing, strongly: true)
      let errors = Mutex(0)
      inner.onDiagnostic = { if case .unheard = $0 { errors.withLock { $0 += 1 } } }
      let outer = Multicast<AskingProxy>()
      outer.add(inner.proxy)
      for proxy in [inner.proxy, outer.proxy, SingleTarget<AskingProxy>(outer.proxy).proxy] {
        #expect(proxy.weigh(5) == 10)
        #expect(await proxy.weighLater(5) == 10)
      }
      #expect(errors.withLock { $0 } == 6)
    }

    @Test("answers are combined in each proxy of a chain, and in messages")
    func combined() async throws {
      let inner = Multicast<AskingProxy>()
      for factor in 1...3 { inner.add(Scale(factor), strongly: true) }
      let single = SingleTarget<AskingProxy>(inner.proxy)
      let outer = Multicast<AskingProxy>()
      outer.add(single.proxy)
      outer.add(Scale(10), strongly: true)
      for (proxy, total) in [(inner.proxy, 6), (single.proxy, 6), (outer.proxy, 16)] {
        #expect(proxy.total(1) == total)
        #expect(await proxy.totalLater(1) == total)
      }
      #expect(try Message<Int, Int>("total:")(1, on: outer.untyped) == 16)
      for concurrently in [false, true] {
        #expect(try await outer.messages.totalLater(1, concurrently: concurrently) == 16)
      }
      let source = DataSource<AskingProxy>()
      source.add(Scale(5), strongly: true)
      source.add(Scale(7), strongly: true)
      let asked = Multicast<AskingProxy>()
      asked.add(source.proxy)
      #expect(asked.proxy.total(1) == 5)
    }

    @Test(
      "a target that leaves a requirement out lets the next one answer, behind handlers as well")
    func leftOut() {
      let watched = Intercepting<AskingProxy>(Brief())
      let single = SingleTarget<AskingProxy>(Brief(), strongly: true)
      let many = Multicast<AskingProxy>()
      many.add(Brief(), strongly: true)
      for proxy in [watched.proxy, single.proxy, many.proxy] {
        let asked = DataSource<AskingProxy>()
        asked.add(proxy)
        asked.add(Scale(2), strongly: true)
        for _ in 0..<2 { #expect(asked.proxy.guess(5) == 10) }
        #expect(asked.proxy.weigh(5) == 5)
      }
    }

    @Test("a diagnostic names the type of its target")
    func diagnosed() throws {
      struct Broken: Error {}
      final class Failing: MethodDeclaring, Sendable {
        static func declareMethods(_ methods: MethodDeclarations) {
          methods.register("weigh:") { (_: Failing, _: Int) throws -> Int in throw Broken() }
        }
      }
      let many = Multicast<AskingProxy>()
      let told = Guarded<[String]>([])
      many.onDiagnostic = { diagnostic in
        if case .failed(let token, _, _) = diagnostic {
          told.withLock { $0.append("\(token.type)") }
        }
      }
      let first = many.untyped.add(Failing(), strongly: true)
      let second = many.untyped.add(Failing(), strongly: true)
      #expect(first != second)
      #expect(first.type == SwiftType(Failing.self))
      #expect("\(first)".hasPrefix("Failing #"))
      #expect(many.proxy.weigh(1) == -1)
      // The first error is that of the requirement, which is `unheard`.
      #expect(told.read { $0 } == ["Failing"])
    }
  }
#endif
