// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import Forwarding
import ForwardingTestSupport
import ForwardingTesting
import Foundation
import Invocations
import Testing
import TypeEncodings

@Suite("Message callbacks")
struct MessageCallbackTests {
  @Test("calls of a C function pointer become messages")
  func door() throws {
    let spy = SpyProxy()
    let door = try MessageCallback(to: spy, selector: "did:", encoding: "v^vi", skipping: 1)
    typealias Hook = @convention(c) (UnsafeMutableRawPointer?, Int32) -> Void
    let hook = try door.function(as: Hook.self)
    hook(nil, 5)
    hook(nil, 6)
    #expect(spy[did].received == [5, 6])
    #expect(door.signature.description == "v@:i")
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
    let door = try MessageCallback(to: everyone, selector: "value", encoding: "i")
    let ask = try door.function(as: (@convention(c) () -> Int32).self)
    #expect(ask() == 2)
    try #require(first)[Messages.value].expect()
    first = nil
    #expect(ask() == 2)
    second[Messages.value].expect(times: 2)
  }

  @Test("a call with any number of arguments arrives", arguments: [0, 1, 6, 7, 24, 200])
  func sizes(count: Int) throws {
    let spy = SpyProxy()
    let name = count == 0 ? "a" : String(repeating: "a:", count: count)
    let encoding = "v" + String(repeating: "q", count: count)
    let door = try MessageCallback(
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
    let door = try MessageCallback(
      to: listener!, selector: "fail", encoding: "i", onError: { errors.add("\($0)") })
    let ask = try door.function(as: (@convention(c) () -> Int32).self)
    #expect(ask() == 0)
    #expect(errors.count == 1)
    listener = nil
    #expect(ask() == 0)
    #expect(errors.count == 1)
  }
}
