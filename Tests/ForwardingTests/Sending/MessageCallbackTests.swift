// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import ForwardingTesting
import Invocations
import Testing
import TypeEncodings

@Suite("Message callbacks")
struct MessageCallbackTests {
  @Test("calls of a C function pointer become messages")
  func door() throws {
    let spy = SpyProxy()
    let door = try Callback(to: spy, selector: "did:", encoding: "v^vi", skipping: 1)
    typealias Hook = @convention(c) (UnsafeMutableRawPointer?, Int32) -> Void
    let hook = try door.function(as: Hook.self)
    hook(nil, 5)
    hook(nil, 6)
    #expect(spy[did].received == [5, 6])
  }

  @Test("a proxy behind the callback reaches several weak targets, and returns the result")
  func proxy() throws {
    let everyone = MulticastProxy()
    var first: SpyProxy? = SpyProxy()
    let second = SpyProxy()
    try #require(first)[Messages.value].answer(with: 1)
    second[Messages.value].answer(with: 2)
    everyone.add(try #require(first))
    everyone.add(second)
    let door = try Callback(to: everyone, selector: "value", encoding: "i")
    let ask = try door.function(as: (@convention(c) () -> Int32).self)
    #expect(ask() == 2)
    try #require(first)[Messages.value].expect()
    first = nil
    #expect(ask() == 2)
    second[Messages.value].expect(times: 2)
  }

  /// Both processors leave the bits of a register above a narrow argument undefined, and C does not
  /// clear them.
  @Test(
    "narrow numbers that C passes are described as C sees them",
    arguments: [
      ("c", 0xFFFF_FFFF_FFFF_FF80, "-128"), ("c", 0x7777_7777_7777_7701, "1"),
      ("C", 0xFFFF_FFFF_FFFF_FF80, "128"), ("s", 0x0000_0000_FFFF_FFFF, "-1"),
      ("S", 0xFFFF_FFFF_FFFF_FFFF, "65535"), ("i", 0x0000_0000_FFFF_FFFF, "-1"),
      ("i", 0x1234_5678_0000_0007, "7"), ("I", 0xFFFF_FFFF_FFFF_FFFF, "4294967295"),
      ("q", 0xFFFF_FFFF_FFFF_FFFF, "-1"), ("Q", 0xFFFF_FFFF_FFFF_FFFF, "18446744073709551615"),
    ] as [(String, UInt64, String)])
  func narrow(type: String, register: UInt64, described: String) throws {
    let spy = SpyProxy()
    let door = try Callback(to: spy, selector: "did:", encoding: "v\(type)")
    try door.function(as: (@convention(c) (UInt64) -> Void).self)(register)
    #expect(spy.transcript == ["did:(\(described))"])
  }

  @Test("a call with any number of arguments arrives", arguments: [0, 1, 6, 7, 24, 200])
  func sizes(count: Int) throws {
    let spy = SpyProxy()
    let name = count == 0 ? "a" : String(repeating: "a:", count: count)
    let encoding = "v" + String(repeating: "q", count: count)
    let door = try Callback(
      to: spy, selector: Selector(interning: name), encoding: encoding)
    let call = try Invocation(parsing: encoding)
    for index in 0..<count { try call.setArgument(index, at: index) }
    try call.invoke(using: door.address)
    #expect(spy.transcript == ["\(name)(\((0..<count).map(String.init).joined(separator: ", ")))"])
  }

  @Test("if the receiver is deallocated or throws, C gets zero, and the error is reported")
  func gone() throws {
    let errors = Log()
    var listener: Listener? = Listener("9", Log())
    let door = try Callback(
      to: listener!, selector: "fail", encoding: "i", onError: { errors.add("\($0)") })
    let ask = try door.function(as: (@convention(c) () -> Int32).self)
    #expect(ask() == 0)
    #expect(errors.count == 1)
    listener = nil
    #expect(ask() == 0)
    #expect(errors.count == 1)
  }
}
