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

  @Test("fold combines the answers until the closure stops")
  func fold() throws {
    let proxy = try Self.proxy(["1", "2", "3"])
    let sum = try Messages.value.fold(on: proxy, into: Int32(0)) { sum, value in
      sum += value
      return value == 2 ? .stop : .next
    }
    #expect(sum == 3)
  }

  @Test("gather returns an answer or an error of each target that knows the message")
  func gather() throws {
    let proxy = try Self.proxy(["1"])
    let failing = ClosureTarget()
    try failing.register("value") { () throws -> Int32 in throw Failure(name: "late") }
    proxy.add(failing)
    proxy.add(ClosureTarget(), strongly: true)
    let gathered = try Messages.value.gather(on: proxy)
    #expect(gathered.count == 2)
    #expect(try gathered[0].get() == 1)
    #expect(throws: Failure(name: "late")) { try gathered[1].get() }
  }

  @Test("gather of a message without a result has one success for each target called")
  func gatherNothing() throws {
    #expect(try did.gather(1, on: Self.proxy(["1", "2"])).count == 2)
  }

  @Test("all, first and fold call every target with a message without a result")
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
    let count = try did.fold(9, on: proxy, into: 0) { count, _ in
      count += 1
      return .next
    }
    #expect(count == 2)
  }

  @Test("a data source is asked to its end: targets, fallback, default")
  func dataSource() throws {
    let source = DataSourceProxy()
    #expect(try Messages.value.first(on: source) == nil)
    source.setDefault(Int32(20), for: "value")
    #expect(try Messages.value.first(on: source) == 20)
    #expect(try Messages.value.all(on: source) == [20])
    let fallback = Listener("3", Log())
    source.setFallback(fallback)
    #expect(try Messages.value.first(on: source) == 3)
    #expect(
      try Messages.value.fold(on: source, into: 0) { sum, value in
        sum += value
        return .next
      } == 3)
    source.add(Listener("4", Log()), strongly: true)
    #expect(try Messages.value.all(on: source) == [4])
  }
}
