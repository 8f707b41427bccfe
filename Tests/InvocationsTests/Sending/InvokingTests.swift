// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import CForwardingFixtures
import TypeEncodings
import Testing

@testable import Invocations

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

  @Test("a plain function has no target, and is not sent")
  func plainFunction() throws {
    let call = try Invocation(parsing: "ddd")
    // A signature keeps the plan that it was checked with.
    for _ in 0..<2 {
      #expect(throws: InvocationError.notAMethod(signatureOf("ddd"))) {
        try Invocation(call.methodSignature, selector: "a:b:")
      }
    }
    #expect(throws: InvocationError.notAMethod(signatureOf("ddd"))) { try call.invoke() }
    #expect(throws: InvocationError.notAMethod(signatureOf("ddd"))) {
      try call.setTarget(Subject())
    }
    #expect(throws: InvocationError.nullFunction) {
      try call.invoke(using: nil as UnsafeRawPointer?)
    }
    #expect(throws: InvocationError.nullFunction) { try call.invokeCapturingErrno(using: nil) }
    #expect(throws: InvocationError.nullFunction) {
      try MethodTable.of(Subject.self).register("x", encoding: "v@:", unsafeFunction: nil)
    }
  }

  @Test("an unknown selector and a selector of other types are errors that show both")
  func dispatchErrors() throws {
    try MethodTable.of(Subject.self).register("known:") { (_: Subject, _: Int32) in }
    let unknown = try Invocation(MethodSignature("v@:"), selector: "unknown")
    #expect(
      throws: InvocationError.unrecognizedSelector(
        "unknown", type: SwiftType(Subject.self), nearest: nil)
    ) {
      try unknown.invoke(on: Subject())
    }
    let other = try Invocation(MethodSignature("v@:d"), selector: "known:")
    #expect(
      throws: InvocationError.signatureMismatch(
        name: "known:", expected: signatureOf("v@:i"), given: signatureOf("v@:d"))
    ) {
      try other.invoke(on: Subject())
    }
  }

  @Test("the selector's colons are counted")
  func arity() throws {
    let signature = try MethodSignature(parsing: "v@:i")
    for _ in 0..<2 {
      #expect(throws: InvocationError.self) { try Invocation(signature, selector: "none") }
      _ = try Invocation(signature, selector: "one:")
    }
    let call = try Invocation(parsing: "v@:i")
    #expect(throws: InvocationError.self) { try call.setSelector(Selector("a:b:")) }
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

  @Test("a result can be set without a call, typed and raw")
  func setResult() throws {
    let call = try Invocation(parsing: "{FixturePoint=dd}@:")
    try call.setResult(FixturePoint(x: 1, y: 2))
    #expect(try call.result(as: FixturePoint.self) == FixturePoint(x: 1, y: 2))
    #expect(
      throws: InvocationError.typeMismatch(
        index: nil, expected: encodingOf("{FixturePoint=dd}"), given: SwiftType(Double.self))
    ) {
      try call.setResult(1.0)
    }
    #expect(
      throws: InvocationError.typeMismatch(
        index: nil, expected: encodingOf("{FixturePoint=dd}"), given: SwiftType(Double.self))
    ) {
      try call.result(as: Double.self)
    }
    #expect(try call.result(as: FixturePoint.self) == FixturePoint(x: 1, y: 2))
    #expect(try call.resultBytes().count == 16)
  }

  @Test("errno can be captured after a call")
  func errnoCaptured() throws {
    let (call, function) = try Fixtures.call("f_fail")
    try call.setArgument(Int32(42), at: 0)
    #expect(try call.invokeCapturingErrno(using: function) == 42)
    try call.setArgument(Int32(0), at: 0)
    #expect(try call.invokeCapturingErrno(using: function) == 0)
    #expect(try call.result(as: Int32.self) == -1)
  }

  @Test("a variadic function gets C's promotions")
  func variadic() throws {
    let fixture = Fixtures.named("f_average")
    let plan = try CallPlan.shared(for: MethodSignature(parsing: "diffd"), fixedArgumentCount: 1)
    let call = Invocation(plan)
    try call.setArgument(Int32(3), at: 0)
    try call.setArgument(Float(1.5), at: 1)
    try call.setArgument(Float(2.5), at: 2)
    try call.setArgument(5.0, at: 3)
    #expect(try call.argument(at: 1) as Float == 1.5)
    try call.invoke(using: fixture.function)
    #expect(try call.result(as: Double.self) == 3)
    #expect(throws: InvocationError.indexOutOfBounds(index: 9, count: 4)) {
      try CallPlan.shared(for: MethodSignature(parsing: "diffd"), fixedArgumentCount: 9)
    }
  }

  @Test("a variadic function is told how many vector registers may be in use, even if none follow")
  func vectorCount() throws {
    for (encoding, count) in [("ii", 0), ("iid", 1), ("iidqd", 2)] {
      let plan = try CallPlan.shared(for: MethodSignature(parsing: encoding), fixedArgumentCount: 1)
      let call = Invocation(plan)
      try call.setArgument(Int32(1), at: 0)
      try call.invoke(using: Fixtures.named("f_vector_count").function)
      #if arch(x86_64)
        #expect(try (Int32(count)...8).contains(call.result(as: Int32.self)))
      #else
        #expect(try call.result(as: Int32.self) == 0, "\(count)")
      #endif
    }
  }

  @Test("narrow variadic integers are promoted to int")
  func variadicIntegers() throws {
    let plan = try CallPlan.shared(
      for: MethodSignature(parsing: "i^vQ*csCSB"), fixedArgumentCount: 3)
    let call = Invocation(plan)
    var buffer = [UInt8](repeating: 0, count: 64)
    try buffer.withUnsafeMutableBytes { bytes in
      try call.setArgument(bytes.baseAddress, at: 0)
      try call.setArgument(UInt(64), at: 1)
      try call.setArgument("%d %d %d %d %d", at: 2)
      try call.setArgument(Int8(-1), at: 3)
      try call.setArgument(Int16(-300), at: 4)
      try call.setArgument(UInt8(200), at: 5)
      try call.setArgument(UInt16(60000), at: 6)
      try call.setArgument(true, at: 7)
      try call.invoke(using: Library("").address(of: "snprintf"))
    }
    #expect(String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self) == "-1 -300 200 60000 1")
  }
}
