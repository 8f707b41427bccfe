// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingTestSupport
import ForwardingTesting
import Testing
@testable import Forwarding

@Suite("Typed messages to many targets")
struct TypedSendTests {
  private static func proxy(_ names: [String]) throws -> MulticastProxy {
    let proxy = MulticastProxy()
    for name in names { proxy.add(Listener(name, Log()), strongly: true) }
    return proxy
  }

  @Test("all returns the answers in order, or throws the first error")
  func all() throws {
    #expect(try Messages.value.all(on: Self.proxy(["1", "2", "3"])) == [1, 2, 3])
    #expect(throws: Failure(name: "1")) { try Messages.fail.all(on: Self.proxy(["1", "2"])) }
  }

  @Test("first returns the first answer, or nil without any")
  func first() throws {
    #expect(try Messages.value.first(on: Self.proxy(["4", "5"])) == 4)
    #expect(try Messages.value.first(on: MulticastProxy()) == nil)
  }

  @Test("all and first call every target with a message without a result")
  func nothing() throws {
    let proxy = MulticastProxy()
    let (one, other) = (SpyProxy(), SpyProxy())
    for spy in [one, other] { proxy.add(spy) }
    #expect(try did.all(7, on: proxy).count == 2)
    #expect(try did.first(8, on: proxy) != nil)
    #expect(one[did].received == [7, 8])
    #expect(other[did].received == [7])
    verifyInOrder {
      one[did].with(7)
      other[did].with(7)
      one[did].with(8)
    }
  }

  @Test("a data source is asked to its end: targets, then the fallback")
  func dataSource() throws {
    let source = MulticastProxy(asksOne: true)
    #expect(try Messages.value.first(on: source) == nil)
    let fallback = Listener("3", Log())
    source.setFallback(fallback)
    #expect(try Messages.value.first(on: source) == 3)
    source.add(Listener("4", Log()), strongly: true)
    #expect(try Messages.value.first(on: source) == 4)
    #expect(try Messages.value(on: source) == 4)
    #expect(try Messages.value.all(on: source) == [4, 3])
    source.fallback = nil
    #expect(try Messages.value.all(on: source) == [4])
  }
}
