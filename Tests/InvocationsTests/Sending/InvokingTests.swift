// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import ForwardingTestSupport
import Glibc
import Invocations
import Testing
import TypeEncodings

@Suite("Invoking an invocation")
struct InvokingTests {
  @Test("a nil target is not called; the result is zero and available")
  func nilTarget() throws {
    let call = try Invocation(MethodSignature("i@:ii"), selector: "add:to:")
    try call.setResult(Int32(7))
    try call.invoke(on: nil)
    #expect(try call.result(as: Int32.self) == 0)
    let large = try Invocation(MethodSignature("{R=dddd}@:"), selector: "frame")
    try large.invoke()
    #expect(try large.resultBytes() == [UInt8](repeating: 0, count: 32))
  }

  @Test("a call that cannot be made is refused: no method, no function, other types, other colons")
  func refused() throws {
    let function = try Invocation(parsing: "ddd")
    let notAMethod = InvocationError.notAMethod(signatureOf("ddd"))
    let method = try MethodSignature(parsing: "v@:i")
    // A signature keeps the plan that it was checked with.
    for _ in 0..<2 {
      #expect(throws: notAMethod) { try Invocation(function.methodSignature, selector: "a:b:") }
      #expect(throws: InvocationError.self) { try Invocation(method, selector: "none") }
      _ = try Invocation(method, selector: "one:")
    }
    let call = try Invocation(method)
    #expect(throws: InvocationError.self) { try call.setSelector(Selector("a:b:")) }
    #expect(throws: notAMethod) { try function.invoke() }
    #expect(throws: notAMethod) { try function.setTarget(Subject()) }
    #expect(throws: InvocationError.nullFunction) {
      try function.invoke(using: nil as UnsafeRawPointer?)
    }
    #expect(throws: InvocationError.nullFunction) { try function.invokeCapturingErrno(using: nil) }
    let methods = MethodTable.of(Subject.self)
    #expect(throws: InvocationError.nullFunction) {
      try methods.register("x", encoding: "v@:", unsafeFunction: nil)
    }
    try methods.register("known:") { (_: Subject, _: Int32) in }
    let unknown = try Invocation(MethodSignature("v@:"), selector: "unknown")
    #expect(
      throws: InvocationError.unrecognizedSelector(
        "unknown", type: SwiftType(Subject.self), nearest: nil)
    ) { try unknown.invoke(on: Subject()) }
    let other = try Invocation(MethodSignature("v@:d"), selector: "known:")
    #expect(
      throws: InvocationError.signatureMismatch(
        name: "known:", expected: signatureOf("v@:i"), given: signatureOf("v@:d"))
    ) { try other.invoke(on: Subject()) }
  }

  @Test("a void result is never available")
  func voidResult() throws {
    let (call, function) = try Fixtures.call("m_nothing")
    let before = fixture_calls()
    try call.invoke(using: function)
    #expect(fixture_calls() == before + 1)
    #expect(throws: InvocationError.resultNotAvailable) { try call.result(as: Int32.self) }
    #expect(throws: InvocationError.resultNotAvailable) { try call.resultBytes() }
  }

  @Test("errno can be captured after a call, and is 0 if the function left none")
  func errnoCaptured() throws {
    let (call, function) = try Fixtures.call("f_fail")
    for code in [42, 0] as [Int32] {
      try call.setArgument(code, at: 0)
      #expect(try call.invokeCapturingErrno(using: function) == code)
      #expect(try call.result(as: Int32.self) == -1)
    }
    let (quiet, two) = try Fixtures.call("f_two")
    errno = 42
    #expect(try quiet.invokeCapturingErrno(using: two) == 0)
  }

  /// A call of a variadic function with its values.
  private func variadic(
    _ encoding: String, fixed: Int, _ values: any CallValue..., to function: UnsafeRawPointer
  ) throws -> Invocation {
    let signature = try MethodSignature(parsing: encoding)
    let call = Invocation(try CallPlan.shared(for: signature, fixedArgumentCount: fixed))
    func set<Value: CallValue>(_ value: Value, _ index: Int) throws {
      try call.setArgument(value, at: index)
    }
    for (index, value) in values.enumerated() { try set(value, index) }
    try call.invoke(using: function)
    return call
  }

  @Test("a variadic function gets C's promotions, and the number of vector registers")
  func variadic() throws {
    let average = try variadic(
      "diffd", fixed: 1, Int32(3), Float(1.5), Float(2.5), 5.0,
      to: Fixtures.named("f_average").function)
    #expect(try average.result(as: Double.self) == 3)
    #expect(try average.argument(at: 1) as Float == 1.5)
    #expect(throws: InvocationError.indexOutOfBounds(index: 9, count: 4)) {
      try CallPlan.shared(for: MethodSignature(parsing: "diffd"), fixedArgumentCount: 9)
    }
    let buffer = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 1)
    defer { buffer.deallocate() }
    _ = try variadic(
      "i^vQ*csCSB", fixed: 3, buffer, UInt(64), "%d %d %d %d %d", Int8(-1), Int16(-300), UInt8(200),
      UInt16(60000), true, to: Library("").address(of: "snprintf"))
    #expect(String(cString: buffer.assumingMemoryBound(to: CChar.self)) == "-1 -300 200 60000 1")
    // It may be too large, but not too small, even if no vector follows; on AArch64 nothing tells it.
    for (encoding, count) in [("ii", 0), ("iid", 1), ("iidqd", 2)] {
      let call = try variadic(
        encoding, fixed: 1, Int32(1), to: Fixtures.named("f_vector_count").function)
      let possible = TestMachine.value(x86_64: Int32(count)...8, aarch64: 0...0)
      #expect(try possible.contains(call.result(as: Int32.self)), "\(encoding)")
    }
  }

  @Test("narrow numbers keep their sign in both directions, and a _Bool of 2 is true")
  func narrow() throws {
    let functions = FunctionTable()
    let two = Fixtures.named("f_two")
    try functions.register("two", encoding: two.encoding, unsafeFunction: two.function)
    #expect(try functions.call("two", returning: Bool.self))
    let (char, negative) = try Fixtures.call("m_char")
    for isThroughLibffi in [false, true] {
      if isThroughLibffi {
        #expect(char.invokeThroughLibffi(using: negative))
      } else {
        try char.invoke(using: negative)
      }
      #expect(try char.result(as: Int8.self) == -5)
      #expect(try char.resultBytes() == [0xFB])
    }
    // A narrow raw integer is sign-extended, as callees expect.
    let (chars, sum) = try Fixtures.call("m_chars")
    for index in 2..<10 { try chars.setArgument(bytes: [0xFF], at: index) }
    try chars.invoke(using: sum)
    #expect(try chars.result(as: Int32.self) == -8)
  }

  @Test("a signature that libffi 3.4.4 passes wrongly is passed by the direct engine alone")
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
    #expect(
      call.invokeThroughLibffi(using: function)
        == TestMachine.value(x86_64: false, aarch64: true))
  }

  @Test("wide values are passed at any alignment of the frame: __int128, long double")
  func wide() throws {
    let functions = FunctionTable()
    try functions.register("sum") { (a: Int128, b: LongDouble, c: Int128) -> Int128 in
      a + c + Int128(Double(b))
    }
    // The frames begin at every multiple of eight bytes on the caller's stack.
    for depth in 0..<4 {
      let sum = try withUnsafeTemporaryAllocation(byteCount: 8 + 8 * depth, alignment: 8) { _ in
        try functions.call(
          "sum", Int128(1) << 100, LongDouble(2.5), Int128(-7), returning: Int128.self)
      }
      #expect(sum == Int128(1) << 100 - 7 + 2)
    }
  }

  @Test("an unused result in memory has memory")
  func droppedResult() throws {
    let functions = try FunctionTable(ofProgram: ["mallinfo2": "{mallinfo2=QQQQQQQQQQ}"])
    for _ in 0..<3 { try functions.call("mallinfo2") }
  }
}
