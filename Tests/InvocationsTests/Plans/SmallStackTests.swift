// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import CForwardingShims
import ForwardingTestSupport
import Foundation
import Invocations
import Testing
import TypeEncodings

/// Each test is a separate process, because a failure ends the process.
@Suite("Threads with a stack of 64 KiB")
struct SmallStackTests {
  /// A call with a structure whose last word is 42.
  @Sendable static func large(_ name: String, words: Int) throws -> (Invocation, UnsafeRawPointer) {
    let (call, function) = try Fixtures.call(name)
    let bytes = [UInt8](repeating: 0, count: 8 * words - 8) + [42, 0, 0, 0, 0, 0, 0, 0]
    try call.setArgument(bytes: bytes, at: call.methodSignature.numberOfArguments - 1)
    return (call, function)
  }

  enum Way: String, Codable, CaseIterable { case function, message, callback, callbackOfLibffi }

  /// Passes a structure of 9 KB, and returns its last word.
  @Sendable static func passed(_ way: Way) throws -> Int64 {
    let call: Invocation
    switch way {
    case .function:
      let large = try large("f_last_of_large", words: 1126)
      call = large.0
      try call.invoke(using: large.1)
    case .message:
      call = try large("m_last_of_large", words: 1126).0
      try call.setSelector("last:")
      try call.invoke(on: Subject())
    case .callback, .callbackOfLibffi:
      fwd_callback_prefer_libffi(way == .callback ? 0 : 1)
      let callback = try Callback(MethodSignature("q{Large=[1126q]}")) { call in
        try call.setResult(Int64(call.argumentBytes(at: 0)[8 * 1125]))
      }
      let apply = try Fixtures.call("f_apply_large")
      call = apply.0
      try call.setArgument(callback.address, at: 0)
      try call.setArgument(Int64(42), at: 1)
      try call.invoke(using: apply.1)
      withExtendedLifetime(callback) {}
    }
    return try call.result(as: Int64.self)
  }

  @Test("a structure of 9 KB is passed to C, in a message and from C", arguments: Way.allCases)
  func fits(way: Way) async {
    await #expect(processExitsWith: .success) { [way] in
      let method = Fixtures.named("m_last_of_large")
      try MethodTable.of(Subject.self).register(
        "last:", encoding: method.encoding, unsafeFunction: method.function)
      onSmallStack {
        let last = try Self.passed(way)
        precondition(last == 42)
      }
    }
  }

  @Test(
    "a structure larger than the remaining stack is refused before the call",
    .enabled(
      if: Sanitizer.current == nil,
      "the frames of a sanitizer need a larger stack, on which there is room for it"))
  func refused() async throws {
    await #expect(processExitsWith: .success) {
      onSmallStack {
        let (call, function) = try Self.large("f_last_of_huge", words: 8000)
        do {
          try call.invoke(using: function)
          fatalError("was called")
        } catch InvocationError.notEnoughStack(let needed, let left) {
          precondition(needed > 64_000)
          precondition(left < 1 << 16)
        }
        do {
          _ = try call.resultBytes()
          fatalError("has a result")
        } catch InvocationError.resultNotAvailable {}
      }
    }
    // The same call works if there is enough stack.
    let (call, function) = try Self.large("f_last_of_huge", words: 8000)
    try call.invoke(using: function)
    #expect(try call.result(as: Int64.self) == 42)
  }

  @Test(
    "a variadic call that needs more than the remaining stack is refused as well",
    .enabled(
      if: fixture_is_sanitized() == 0,
      "with AddressSanitizer Swift's runtime overflows 32 KiB; ThreadSanitizer ends in SIGILL"))
  func variadic() async {
    await #expect(processExitsWith: .success) {
      onSmallStack(32 << 10) {
        let signature = try MethodSignature(parsing: "di{W=[4000q]}")
        let call = Invocation(try CallPlan.shared(for: signature, fixedArgumentCount: 1))
        do {
          try call.invoke(using: Fixtures.named("f_average").function)
          fatalError("was called")
        } catch InvocationError.notEnoughStack {}
      }
    }
  }
}
