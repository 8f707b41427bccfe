// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Testing
import TypeEncodings
@testable import Invocations

@Suite("Adversarial uses of an invocation")
struct AdversarialInvocationTests {
  @Test("narrow results keep their sign, and a _Bool of 2 is true")
  func narrowResults() throws {
    let functions = FunctionTable()
    let two = Fixtures.named("f_two")
    try functions.register("two", encoding: two.encoding, unsafeFunction: two.function)
    #expect(try functions.call("two", returning: Bool.self))
    let (char, negative) = try Fixtures.call("m_char")
    for throughLibffi in [false, true] {
      if throughLibffi {
        #expect(char.invokeThroughLibffi(using: negative))
      } else {
        try char.invoke(using: negative)
      }
      #expect(try char.result(as: Int8.self) == -5)
      #expect(try char.resultBytes() == [0xFB])
    }
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

  @Test("descriptions of extreme values are bounded")
  func descriptions() throws {
    let call = try Invocation(parsing: "v@:d*{B=[60000c]}")
    #expect(call.description.utf8.count < 1000)
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
