import Dispatch
import ForwardingTestSupport
import Testing
@testable import Forwarding

@Suite("Typed messages to many")
struct TypedSendTests {
  private static func proxy(_ names: [String]) throws -> MulticastProxy {
    let proxy = MulticastProxy()
    for name in names { proxy.add(Listener(name, Log()), strongly: true) }
    return proxy
  }

  @Test("all: the answers in order, and the first error if there is one")
  func all() throws {
    #expect(try Messages.value.all(on: Self.proxy(["1", "2", "3"])) == [1, 2, 3])
    #expect(throws: Failure(name: "1")) { try Messages.fail.all(on: Self.proxy(["1", "2"])) }
  }

  @Test("first: the first answer, or nil if nobody answers")
  func first() throws {
    #expect(try Messages.value.first(on: Self.proxy(["4", "5"])) == 4)
    #expect(try Messages.value.first(on: MulticastProxy()) == nil)
  }

  @Test("fold: the answers combined, as long as that goes on")
  func fold() throws {
    let proxy = try Self.proxy(["1", "2", "3"])
    let sum = try Messages.value.fold(on: proxy, into: Int32(0)) { sum, value in
      sum += value
      return value == 2 ? .stop : .next
    }
    #expect(sum == 3)
  }

  @Test("gather: an answer or an error of each that knows the message")
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

  @Test("gather: a message without a result has one success for each that was told")
  func gatherNothing() throws {
    #expect(try did.gather(1, on: Self.proxy(["1", "2"])).count == 2)
  }

  @Test("deliver: a report of all")
  func deliver() throws {
    #expect(try did.deliver(1, on: Self.proxy(["1", "2"])).answered == 2)
  }
}
