// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Forwarding
  import ForwardingTestSupport
  import Testing

  @Forwardable
  private protocol Naming: AnyObject {
    func name(_ number: Int)
    @Otherwise(0) func count() -> Int
    func rate() async
  }

  @Forwardable
  private protocol Ranking where Self: Naming & Sendable {
    func rank()
    @Otherwise(0) func size() -> Int
  }

  /// The protocol of a library that inherits another one, whose proxy does not know it.
  private protocol Foreign: Naming {
    func close()
  }

  @Forwardable(as: (any Foreign).self)
  private protocol RestatedForeign: AnyObject {
    func close()
  }

  /// A class of its own: a proxy that knows it gives it methods for good.
  private final class Closed: Foreign {
    let heard = Guarded<[String]>([])
    func name(_ number: Int) { heard.withLock { $0.append("name \(number)") } }
    func count() -> Int { 5 }
    func rate() async { heard.withLock { $0.append("rate") } }
    func close() { heard.withLock { $0.append("close") } }
  }

  private final class Named: Ranking {
    let heard = Guarded<[String]>([])
    func name(_ number: Int) { heard.withLock { $0.append("name \(number)") } }
    func count() -> Int { 5 }
    func rate() async { heard.withLock { $0.append("rate") } }
    func rank() { heard.withLock { $0.append("rank") } }
    func size() -> Int { 7 }
  }

  @Suite("Requirements of inherited protocols that the clause of a protocol does not name")
  struct UnknownBaseTests {
    @Test("a protocol that 'where Self:' names is inherited")
    func whereClause() async throws {
      let named = Named()
      let all = Multicast<RankingProxy>()
      all.add(named)
      all.proxy.rank()
      all.proxy.name(1)
      #expect(all.proxy.size() == 7)
      #expect(all.proxy.count() == 5)
      await all.proxy.rate()
      #expect(try all.messages.count.all() == [5])
      #expect(named.heard.read { $0 } == ["rank", "name 1", "rate"])
    }

    @Test("requirements that a proxy does not know are messages, which a target need not have")
    func unknown() async {
      let closed = Closed()
      let all = Multicast<RestatedForeignProxy>()
      let unanswered = Guarded<[String]>([])
      all.onDiagnostic = { diagnostic in
        if case .unanswered(let selector) = diagnostic {
          unanswered.withLock { $0.append("\(selector)") }
        }
      }
      all.add(closed)
      all.proxy.close()
      all.proxy.name(1)
      #expect(all.proxy.count() == 0)
      await all.proxy.rate()
      #expect(closed.heard.read { $0 } == ["close"])
      #expect(unanswered.read { $0 } == ["name:", "rate"])

      // The class has methods for the messages once the proxy that knows them was given one.
      let names = Multicast<NamingProxy>()
      names.add(closed)
      all.proxy.name(2)
      #expect(all.proxy.count() == 5)
      #expect(closed.heard.read { $0 } == ["close", "name 2"])
    }
  }
#endif
