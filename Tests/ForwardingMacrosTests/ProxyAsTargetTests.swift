// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Forwarding
  import Testing

  @Forwardable
  private protocol Asking: AnyObject, Sendable {
    @Otherwise(-1) func weigh(_ number: Int) -> Int
    @Otherwise(-1) func weighLater(_ number: Int) async -> Int
    @Optional @Otherwise(-1) func guess(_ number: Int) -> Int
  }

  private final class Scale: Asking {
    let factor: Int
    init(_ factor: Int) { self.factor = factor }
    func weigh(_ number: Int) -> Int { factor * number }
    func weighLater(_ number: Int) async -> Int { factor * number }
    func guess(_ number: Int) -> Int { factor * number }
  }

  /// Leaves out the optional requirement.
  private final class Brief: Asking {
    func weigh(_ number: Int) -> Int { number }
    func weighLater(_ number: Int) async -> Int { number }
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
