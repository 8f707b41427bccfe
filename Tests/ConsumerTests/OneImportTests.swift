// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Testing

#if Macros
  @Forwardable
  public protocol Gatekeeper: AnyObject {
    @Otherwise(0) var guests: Int { get set }
    func gate(didOpen number: Int)
    @Otherwise(true, combine: { $0 && $1 }) func gate(admits guest: String) -> Bool
    func gate(count guests: [String]) async throws -> Int
    @Optional func gateDidBecomeIdle()
  }

  @Forwardable
  protocol Meter {
    mutating func add(_ amount: Int)
    @Otherwise(0) func total() -> Int
  }

  /// The code that the macros write names the modules below, which a user need not import.
  @Suite("One import is enough for proxies")
  struct OneImportTests {
    final class Keeper: Gatekeeper {
      var guests = 0
      var opened: [Int] = []
      func gate(didOpen number: Int) { opened.append(number) }
      func gate(admits guest: String) -> Bool { guest != "thief" }
      func gate(count guests: [String]) async throws -> Int { guests.count }
    }

    struct Counter: Meter {
      var sum = 0
      mutating func add(_ amount: Int) { sum += amount }
      func total() -> Int { sum }
    }

    final class Gate {
      @Delegates var delegate: any Gatekeeper
    }

    @Test("delegates, with and without messages")
    func delegates() async throws {
      let (gate, keeper) = (Gate(), Keeper())
      gate.$delegate.add(keeper)
      gate.delegate.gate(didOpen: 5)
      gate.delegate.guests = 2
      gate.delegate.gateDidBecomeIdle()
      #expect(keeper.opened == [5])
      #expect(gate.delegate.guests == 2)
      #expect(!gate.delegate.gate(admits: "thief"))
      #expect(try await gate.delegate.gate(count: ["a", "b"]) == 2)
      let report = try gate.$delegate.messages.gateAdmits.report("thief")
      #expect(report.answers == [false])
      #expect(gate.$delegate.map { $0.gate(admits: "guest") } == [true])
    }

    @Test("values, one target, handlers")
    func others() throws {
      let meters = Multicast<MeterProxy>()
      meters.add(Counter())
      let proxy = meters.proxy
      proxy.add(3)
      #expect(proxy.total() == 3)

      let keeper = Keeper()
      let watched = Intercepting<GatekeeperProxy>(keeper)
      watched.messages.gateDidOpen.around { proceed, number in try proceed(number + 1) }
      let one = SingleTarget<GatekeeperProxy>(watched.proxy)
      one.proxy.gate(didOpen: 1)
      #expect(keeper.opened == [2])
    }

    @Test("an error names its message, without an import")
    func errors() throws {
      let close = try Message<Int>("close")
      do {
        _ = try close(on: MulticastProxy())
        Issue.record("nobody is there")
      } catch ForwardingError.nobodyAnswered(let asked) {
        #expect(asked?.name == "close")
      }
    }
  }
#endif
