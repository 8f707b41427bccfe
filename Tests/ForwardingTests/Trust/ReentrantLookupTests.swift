// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Testing
import TypeEncodings

@testable import Invocations

/// A receiver that code in a method lookup tries to set, although nothing retains it.
private final class Victim: CallObject {
  nonisolated(unsafe) var call: Invocation?
  nonisolated(unsafe) var data = [1, 2, 3]
}

/// Called by code that runs during a method lookup. Returns true if the change was refused.
private func replaceTarget(of call: Invocation?) -> Bool {
  let victim = Victim()
  victim.call = call
  do throws(InvocationError) {
    try call?.setTarget(victim)
    return false
  } catch {
    return error == .argumentInUse(index: 0)
  }
}

private final class Holding: MethodProviding, CallObject {
  nonisolated(unsafe) var call: Invocation?
  nonisolated(unsafe) var wasRefused = false
  let method: Implementation

  init(_ method: Implementation) { self.method = method }

  func ownMethod(for selector: Selector) -> Implementation? {
    wasRefused = replaceTarget(of: call)
    return method
  }
}

private class Resolving: MessageForwarding, CallObject {
  nonisolated(unsafe) static var call: Invocation?
  nonisolated(unsafe) static var wasRefused = false

  static func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool {
    wasRefused = replaceTarget(of: call)
    return (try? table.register(selector) { (_: AnyObject) -> Int32 in 7 }) != nil
  }
}

private final class ResolvingBelow: Resolving {}

@Suite("No other target can be set during a method lookup", .serialized)
struct ReentrantLookupTests {
  private func message(_ name: Selector) throws -> Invocation {
    try Invocation(MethodSignature("i@:"), selector: name)
  }

  @Test("an object that is asked for its own method cannot change the target")
  func own() throws {
    let call = try message("number")
    let receiver = Holding(try Implementation(method: { (_: Holding) -> Int32 in 7 }))
    receiver.call = call
    try call.invoke(on: receiver)
    #expect(receiver.wasRefused)
    #expect(try call.result(as: Int32.self) == 7)
  }

  @Test("a superclass that resolves a selector cannot change the target")
  func above() throws {
    let call = try message("numberAbove")
    Resolving.call = call
    Resolving.wasRefused = false
    try call.setTarget(ResolvingBelow())
    try call.invokeSuper(of: ResolvingBelow.self)
    #expect(Resolving.wasRefused)
    #expect(try call.result(as: Int32.self) == 7)
  }
}

@Suite("A body that sets a result of its invocation and then throws")
struct ThrownResultTests {
  private struct Refused: Error {}

  // One after the other, because both register the method for one class.
  @Test("a result that a throwing body set is discarded", .serialized, arguments: ["i@:", "*@:"])
  func thrown(encoding: String) throws {
    let call = try Invocation(parsing: encoding)
    try call.setSelector(Selector("answer"))
    nonisolated(unsafe) let captured = call
    let body: @Sendable (Invocation) throws -> Void = { _ in
      if encoding == "i@:" {
        try captured.setResult(Int32(99))
      } else {
        try captured.setResult("stale")
      }
      throw Refused()
    }
    try MethodTable.of(Victim.self).replace(
      Selector("answer"), Implementation(MethodSignature(parsing: encoding), invocation: body))
    #expect(throws: Refused.self) { try call.invoke(on: Victim()) }
    #expect(throws: InvocationError.resultNotAvailable) { try call.resultBytes() }
  }
}
