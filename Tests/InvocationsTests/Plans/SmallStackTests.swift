// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import CForwardingShims
import ForwardingTestSupport
import Foundation
import Testing
import TypeEncodings

@testable import Invocations

/// Each test is a separate process, because a failure ends the process.
@Suite("Threads with a stack of 64 KiB")
struct SmallStackTests {
  @Sendable static func large(_ name: String, last: Int64, words: Int) throws -> (
    Invocation, UnsafeRawPointer
  ) {
    let (call, function) = try Fixtures.call(name)
    var bytes = [UInt8](repeating: 0, count: 8 * words)
    withUnsafeBytes(of: last) { bytes.replaceSubrange(8 * (words - 1)..<8 * words, with: $0) }
    let index = name.hasPrefix("m_") ? 2 : 0
    try call.setArgument(bytes: bytes, at: index)
    return (call, function)
  }

  @Test("a structure of 9 KB is passed by value")
  func call() async {
    await #expect(processExitsWith: .success) {
      onSmallStack {
        let (call, function) = try Self.large("f_last_of_large", last: 42, words: 1126)
        try call.invoke(using: function)
        let last = try call.result(as: Int64.self)
        precondition(last == 42)
      }
    }
  }

  @Test(
    "a structure larger than the remaining stack is refused before the call",
    .enabled(
      if: Sanitizer.current == nil,
      "the frames of a sanitizer need a larger stack, on which there is room for it"))
  func refused() async {
    await #expect(processExitsWith: .success) {
      onSmallStack {
        let (call, function) = try Self.large("f_last_of_huge", last: 42, words: 8000)
        do {
          try call.invoke(using: function)
          fatalError("was called")
        } catch InvocationError.notEnoughStack(let needed, let left) {
          precondition(needed > 64_000)
          precondition(left < 1 << 16)
        }
        precondition(!call.call.hasResult)
      }
    }
  }

  @Test("the same call works if there is enough stack")
  func enough() throws {
    let (call, function) = try Self.large("f_last_of_huge", last: 42, words: 8000)
    try call.invoke(using: function)
    #expect(try call.result(as: Int64.self) == 42)
  }

  @Test("C calls back with a structure of 9 KB", arguments: [0, 1])
  func callback(prefersLibffi: Int32) async {
    await #expect(processExitsWith: .success) { [prefersLibffi] in
      fwd_callback_prefer_libffi(prefersLibffi)
      onSmallStack {
        let callback = try Callback(MethodSignature("q{Large=[1126q]}")) { call in
          let bytes = try call.argumentBytes(at: 0)
          try call.setResult(Int64(bytes[8 * 1125]))
        }
        let (apply, function) = try Fixtures.call("f_apply_large")
        try apply.setArgument(callback.address, at: 0)
        try apply.setArgument(Int64(42), at: 1)
        try apply.invoke(using: function)
        let last = try apply.result(as: Int64.self)
        precondition(last == 42)
        withExtendedLifetime(callback) {}
      }
    }
  }

  @Test("a message with a structure of 9 KB is sent")
  func send() async {
    await #expect(processExitsWith: .success) {
      let method = Fixtures.named("m_last_of_large")
      try MethodTable.of(Subject.self).register(
        "last:", encoding: method.encoding, unsafeFunction: method.function)
      onSmallStack {
        let (call, _) = try Self.large("m_last_of_large", last: 42, words: 1126)
        try call.setSelector(Selector("last:"))
        try call.invoke(on: Subject())
        let last = try call.result(as: Int64.self)
        precondition(last == 42)
      }
    }
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
        let plan = try CallPlan.shared(for: signature, fixedArgumentCount: 1)
        let call = Invocation(plan)
        try call.setArgument(Int32(0), at: 0)
        do {
          try call.invoke(using: Fixtures.named("f_average").function)
          fatalError("was called")
        } catch InvocationError.notEnoughStack {
        }
      }
    }
  }

  @Test(
    "results of every kind are returned, however many words are passed",
    arguments: [65, 66, 511, 512, 513, 2000])
  func results(words: Int) throws {
    let encoding = "{W=[\(words)q]}"
    func call(_ result: String, _ set: @escaping @Sendable (Invocation) throws -> Void) throws
      -> [UInt8]
    {
      let signature = try MethodSignature(parsing: "\(result)d\(encoding)q")
      let callback = try Callback(signature) { call in
        let bytes = try call.argumentBytes(at: 1)
        #expect(bytes == (0..<8 * words).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        #expect(try call.argument(at: 0, as: Double.self) == 1.5)
        #expect(try call.argument(at: 2, as: Int64.self) == -3)
        try set(call)
      }
      let call = try Invocation(signature)
      try call.setArgument(1.5, at: 0)
      try call.setArgument(bytes: (0..<8 * words).map { UInt8(truncatingIfNeeded: $0 &* 7) }, at: 1)
      try call.setArgument(Int64(-3), at: 2)
      try call.invoke(using: callback.address)
      withExtendedLifetime(callback) {}
      return call.plan.result.pointee.size == 0 ? [] : try call.resultBytes()
    }
    #expect(try call("v") { _ in } == [])
    for (result, size) in [
      ("q", 8), ("d", 8), ("{P=qq}", 16), ("{P=dd}", 16), ("{P=qd}", 16), ("{P=dq}", 16),
      ("{P=ddd}", 24),
    ] {
      let bytes = (0..<size).map { UInt8($0 + 1) }
      #expect(try call(result) { try $0.setResult(bytes: bytes) } == bytes, "\(result)")
    }
    let long = TestMachine.longDouble1_25
    #expect(try call("D") { try $0.setResult(bytes: long) } == long)
    #expect(try call("jD") { try $0.setResult(bytes: long + long) } == long + long)
  }
}
