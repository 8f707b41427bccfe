import ForwardingTestSupport
import Testing
import TypeEncodings

@testable import Invocations

/// Hostile encodings, and the right answer to each. Hostile uses of an invocation are in the second suite.
@Suite("Adversarial encodings")
struct AdversarialEncodingTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var text: String
    var use: Use
    var isAccepted: Bool

    enum Use: Sendable {
      /// One type, which must have a layout.
      case type
      /// One type, which need not be laid out: behind a pointer, say.
      case spelling
      /// A method's signature, with receiver and selector.
      case method
      /// Any signature that can be planned.
      case call
    }

    var testDescription: String {
      let start = text.count > 40 ? "\(text.prefix(40))… of \(text.utf8.count) bytes" : text
      return "\(use) \(start.debugDescription)"
    }

    init(_ text: String, _ use: Use, accepted: Bool = false) {
      (self.text, self.use, isAccepted) = (text, use, accepted)
    }
  }

  private static func many(_ text: String, _ count: Int) -> String {
    String(repeating: text, count: count)
  }

  static let cases: [Case] = [
    Case("", .call), Case("v", .method), Case("v", .call, accepted: true),
    Case("v@", .method), Case("@:", .method), Case("v@:v", .call),
    Case("vv@:", .call), Case("{", .type), Case("{P", .type), Case("{P=", .type),
    Case("{P=ii", .type), Case("{P=ii}}", .type), Case("}", .type),
    Case("{=ii}", .type, accepted: true), Case("{?=ii}", .type, accepted: true),
    Case("^{P}", .type, accepted: true), Case("v@:{P}", .call),
    // An empty structure is refused by libffi, but C passes it: as nothing.
    Case("v{E=}", .call, accepted: true), Case("[3i", .type), Case("[i]", .type),
    Case("[]", .type), Case("[0i]@:", .call), Case("[-1i]", .type),
    Case("[99999999999i]", .type), Case("[18446744073709551617i]", .type),
    Case("[4294967296[4294967296c]]", .type), Case("[2147483647[2147483647c]]", .type),
    Case("[1000000{Big=[1000000q]}]", .type), Case(many("{a=", 100_000), .type),
    Case(many("{a=", 20_000), .type), Case(many("^", 60_000), .type),
    Case(many("[1", 30_000), .type), Case("^", .type),
    Case("^^^v", .type, accepted: true), Case("^{N={P=ii}d^{N}}", .type, accepted: true),
    Case("{N={N={N=i}}}", .type), Case("(U=if[4c])", .type, accepted: true),
    Case("v(U=if[4c])", .call, accepted: true), Case("(U=", .type),
    Case("v@:b3", .call), Case("{B=b3b5b0b40}", .spelling, accepted: true),
    Case("v{B=b3b5b0b40}", .call),
    // The crossing field shows that no compiler wrote this; what one writes is accepted.
    Case("{B=b0i3b3I5b32i0b64q40}", .type, accepted: true), Case("{B=b65}", .type),
    Case("{B=b-1}", .type), Case("{B=b99999999999}", .type), Case("b", .type),
    Case("@\"NSString\"", .type, accepted: true), Case("@\"unterminated", .type),
    Case("v@:@?@?<v@?i>", .call, accepted: true), Case("@?<", .type),
    Case("v^?", .call, accepted: true), Case("vrn*16N^i24O@32R@40", .call, accepted: true),
    Case("Vv48@0:8", .method, accepted: true), Case(many("r", 1_000_000), .type),
    Case("i24@0:8i16c20", .call, accepted: true), Case("i24@8:0i16", .call, accepted: true),
    Case("i99999999999999999999", .call), Case("v-8@+0", .call, accepted: true),
    Case("jfjdji", .call, accepted: true), Case("DD", .call, accepted: true),
    Case("tT", .call, accepted: true), Case("vAi", .call, accepted: true),
    Case("v ", .call), Case(" ", .type),
    Case("{shared_ptr<E::blob<float, 4>>=^{blob<float, 4>}^v}", .type, accepted: true),
    Case("{a==i}", .type), Case("v@:\u{0}i", .call), Case("v@:😀", .call),
    Case("v@:" + many("i", 254), .call, accepted: true),
    Case("v@:" + many("i", 255), .call),
    Case("v@:" + many("i", 1_500_000), .call), Case(many("{P=ii}", 2_796_202), .call),
    Case("v{P=ii}{P=dd}", .call, accepted: true), Case("v{Big=[102400q]}", .call),
  ]

  @Test("each is accepted, or refused with a place and a short word", arguments: cases)
  func input(case one: Case) {
    func attempt() throws {
      switch one.use {
      case .type: _ = try TypeEncoding(parsing: one.text).layout
      case .spelling: _ = try TypeEncoding(parsing: one.text)
      case .method: _ = try CallPlan(MethodSignature(method: one.text))
      case .call: _ = try CallPlan(MethodSignature(parsing: one.text))
      }
    }
    do {
      try attempt()
      #expect(one.isAccepted)
    } catch {
      #expect(!one.isAccepted, "\(error)")
      // Every refusal says where, and is short enough to print.
      #expect("\(error)".utf8.count < 1000)
    }
  }

  @Test("both dialects of bit-fields parse; only GNU's tells the layout")
  func dialects() throws {
    #expect(throws: TypeEncodingError.self) { try TypeEncoding(parsing: "{B=b3b5b0b40}").layout }
    #expect(
      try TypeEncoding(parsing: "{B=b0i3b3I5b32i0b64q40}").layout
        == TypeLayout(size: 16, alignment: 8))
  }

  @Test("long double, long and BOOL are what this platform's compilers make of them")
  func platformTypes() throws {
    #expect(try TypeEncoding(parsing: "D").layout.size == MemoryLayout<Float80>.size)
    #expect(try TypeEncoding(parsing: "l").layout.size == MemoryLayout<Int>.size)
    let call = try Invocation(parsing: "v@:cBC")
    #expect(throws: InvocationError.self) { try call.setArgument(true, at: 2) }
    #expect(throws: InvocationError.self) { try call.setArgument(true, at: 4) }
    try call.setArgument(true, at: 3)
  }

  @Test("an argument that left no trace in the encoding shows in the selector's colons")
  func vanishedVector() throws {
    #expect(throws: TypeEncodingError.self) {
      try MethodSignature(method: "v@:", selector: "move:")
    }
  }

  @Test("the offset of a fault counts bytes")
  func byteOffsets() {
    let error = #expect(throws: TypeEncodingError.self) { try TypeEncoding(parsing: "{é=😀}") }
    #expect(error?.offset == 4)
  }

  @Test("two bodies under one name are honoured as they are written")
  func twoBodies() throws {
    let plan = try CallPlan(MethodSignature(parsing: "v{P=ii}{P=dd}"))
    guard CallPlan.hasDirectEngine else { return }
    #expect(try plan.location(ofArgument: 0).text == "rdi")
    #expect(try plan.location(ofArgument: 1).text == "xmm0:xmm1")
  }
}

@Suite("Adversarial uses of an invocation")
struct AdversarialInvocationTests {
  @Test("a named function refuses too few and too many arguments")
  func counts() throws {
    let functions = FunctionTable()
    try functions.register("two") { (a: Int, b: Int) in a + b }
    #expect(throws: InvocationError.argumentCount(expected: 2, given: 1)) {
      try functions.call("two", 1)
    }
    #expect(throws: InvocationError.argumentCount(expected: 2, given: 3)) {
      try functions.call("two", 1, 2, 3)
    }
  }

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

  @Test("structure bytes of a wrong length leave the argument alone")
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

  @Test("an invocation may be sent twice, and an argument that was never set is zero")
  func twice() throws {
    let (call, function) = try Fixtures.call("m_sum")
    try call.setArgument(Int32(5), at: 3)
    for _ in 0..<2 {
      try call.invoke(using: function)
      #expect(try call.result(as: Int32.self) == 5)
    }
  }

  @Test("there is no result before a call, and none of another type; asking changes nothing")
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

  @Test("a string may be freed or changed after it was set")
  func freedString() throws {
    let (call, function) = try Fixtures.call("m_loop")
    do {
      var text = "scratch"
      try call.setArgument(text, at: 2)
      text.removeAll()
    }
    try call.invoke(using: function)
    // The callee changed the invocation's own copy.
    #expect(try call.result(as: String.self) == "tcratch")
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

  @Test("a target that changes its by-value structure changes no one else's")
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

  @Test("a signature that libffi 3.4.4 gets wrong is called right through both engines")
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

  @Test("a Swift method that throws is an error of the call, and the target is released")
  func throwing() throws {
    struct Refusal: Error {}
    final class Refusing {}
    try MethodTable.of(Refusing.self).register("go") { (_: Refusing) throws -> Void in
      throw Refusal()
    }
    let call = try Invocation(MethodSignature("v@:"), selector: "go")
    weak var target: Refusing?
    do {
      let made = Refusing()
      target = made
      #expect(throws: Refusal.self) { try call.invoke(on: made) }
    }
    #expect(target != nil)
    try call.setTarget(nil)
    #expect(target == nil)
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

  /// A C string that is not UTF-8; it lives for the whole run.
  private func strdupInvalid() -> UnsafePointer<CChar> {
    let bytes = UnsafeMutablePointer<CChar>.allocate(capacity: 3)
    bytes.initialize(to: -1)
    (bytes + 1).initialize(to: -2)
    (bytes + 2).initialize(to: 0)
    return UnsafePointer(bytes)
  }
}
