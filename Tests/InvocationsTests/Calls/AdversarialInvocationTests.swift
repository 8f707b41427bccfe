// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Testing
import TypeEncodings
@testable import Invocations

@Suite("Adversarial uses of an invocation")
struct AdversarialInvocationTests {
  @Test("numbers are neither narrowed nor wrapped")
  func narrowing() throws {
    let call = try Invocation(parsing: "v@:qfQC")
    #expect(
      throws: InvocationError.argumentMismatch(
        index: 2, expected: encodingOf("q"), given: SwiftType(Int32.self))
    ) {
      try call.setArgument(Int32(1), at: 2)
    }
    #expect(throws: InvocationError.notExact(value: .double(1e300), type: encodingOf("f"))) {
      try call.setArgument(exactly: 1e300, at: 3)
    }
    #expect(throws: InvocationError.notExact(value: .double(.nan), type: encodingOf("f"))) {
      try call.setArgument(exactly: Double.nan, at: 3)
    }
    #expect(throws: InvocationError.notExact(value: .integer(-1), type: encodingOf("Q"))) {
      try call.setArgument(exactly: -1, at: 4)
    }
    #expect(throws: InvocationError.notExact(value: .integer(256), type: encodingOf("C"))) {
      try call.setArgument(exactly: 256, at: 5)
    }
  }

  @Test("structure bytes of a wrong length leave the argument unchanged")
  func structureBytes() throws {
    let call = try Invocation(parsing: "v@:{P=dd}")
    let bytes = [UInt8](repeating: 7, count: 16)
    try call.setArgument(bytes: bytes, at: 2)
    for count in [0, 8, 15, 17, 4096] {
      #expect(throws: InvocationError.wrongSize(expected: 16, given: count)) {
        try call.setArgument(bytes: [UInt8](repeating: 1, count: count), at: 2)
      }
    }
    #expect(try call.argumentBytes(at: 2) == bytes)
  }

  @Test("there is no result before a call, and none of another type; a failed read changes nothing")
  func results() throws {
    let call = try Invocation(parsing: "i@:")
    for _ in 0..<2 {
      #expect(throws: InvocationError.resultNotAvailable) { try call.result(as: Int32.self) }
    }
    try call.setResult(Int32(1))
    #expect(
      throws: InvocationError.resultMismatch(
        expected: encodingOf("i"), given: SwiftType(Double.self))
    ) {
      try call.result(as: Double.self)
    }
    #expect(try call.result(as: Int32.self) == 1)
  }

  @Test("narrow results keep their sign, and a _Bool of 2 is true")
  func narrowResults() throws {
    let functions = FunctionTable()
    let two = Fixtures.named("f_two")
    try functions.register("two", encoding: two.encoding, unsafeFunction: two.function)
    #expect(try functions.call("two", returning: Bool.self))
    let (char, negative) = try Fixtures.call("m_char")
    for throughLibffi in [false, true] {
      if throughLibffi {
        char.invokeThroughLibffi(using: negative)
      } else {
        try char.invoke(using: negative)
      }
      #expect(try char.result(as: Int8.self) == -5)
      #expect(try char.resultBytes() == [0xFB])
    }
  }

  @Test("text with a NUL is refused, and the old text stays")
  func embeddedNUL() throws {
    let call = try Invocation(parsing: "v@:*")
    try call.setArgument("kept", at: 2)
    #expect(throws: InvocationError.embeddedNUL(offset: 1)) { try call.setArgument("a\0b", at: 2) }
    #expect(try call.argument(at: 2, as: String.self) == "kept")
  }

  @Test("a NULL function is refused")
  func nullFunction() throws {
    let call = try Invocation(parsing: "v")
    #expect(throws: InvocationError.nullFunction) {
      try call.invoke(using: nil as UnsafeRawPointer?)
    }
    #expect(throws: InvocationError.nullFunction) { try call.invokeCapturingErrno(using: nil) }
    #expect(throws: InvocationError.nullFunction) {
      try MethodTable.of(Subject.self).register("x", encoding: "v@:", unsafeFunction: nil)
    }
  }

  @Test("a target that changes its by-value structure does not change it for others")
  func byValue() throws {
    let library = try CompiledLibrary(
      CCompiler.system().library(
        """
        typedef struct { long a[6]; } S;
        long f(S s) { long sum = 0; for (int i = 0; i < 6; i++) { sum += s.a[i]; s.a[i] = -1; }
          *(volatile long *)&s.a[0] = 99; return sum; }
        """))
    let function = try library.address("f")
    let call = try Invocation(parsing: "q{S=[6q]}")
    try call.setArgument(bytes: [1, 2, 3, 4, 5, 6].withUnsafeBytes { Array($0) }, at: 0)
    for _ in 0..<2 {
      try call.invoke(using: function)
      #expect(try call.result(as: Int.self) == 21)
      call.invokeThroughLibffi(using: function)
      #expect(try call.result(as: Int.self) == 21)
    }
  }

  @Test("a signature that libffi 3.4.4 passes wrongly is passed correctly by both engines")
  func issue574() throws {
    let library = try CompiledLibrary(
      CCompiler.system().library(
        """
        typedef struct { char c; double d; } P;
        double f(void *s, void *c, int i, int j, int k, float x, P p) { return x + 10 * p.c + 100 * p.d; }
        """))
    let function = try library.address("f")
    let call = try Invocation(parsing: "d@:iiif{P=cd}")
    try call.setArgument(Float(2.5), at: 5)
    try call.setArgument(
      bytes: [3] + [UInt8](repeating: 0, count: 7) + withUnsafeBytes(of: 4.0) { Array($0) }, at: 6)
    try call.invoke(using: function)
    #expect(try call.result(as: Double.self) == 432.5)
    call.invokeThroughLibffi(using: function)
    #expect(try call.result(as: Double.self) == 432.5)
  }

  @Test("descriptions of extreme values are bounded")
  func descriptions() throws {
    let call = try Invocation(parsing: "v@:d*{B=[60000c]}")
    for value in [1e300, .nan, -0.0] {
      try call.setArgument(value, at: 2)
      #expect(call.description.utf8.count < 1000)
    }
    try call.setArgument(bytes: withUnsafeBytes(of: strdupInvalid()) { Array($0) }, at: 3)
    call.retainArguments()
    #expect(call.description.contains("not UTF-8"))
    #expect(throws: InvocationError.notText(index: 3)) { try call.argument(at: 3, as: String.self) }
  }

  /// A C string that is not UTF-8, and is never freed.
  private func strdupInvalid() -> UnsafePointer<CChar> {
    let bytes = UnsafeMutablePointer<CChar>.allocate(capacity: 3)
    bytes.initialize(to: -1)
    (bytes + 1).initialize(to: -2)
    (bytes + 2).initialize(to: 0)
    return UnsafePointer(bytes)
  }
}
