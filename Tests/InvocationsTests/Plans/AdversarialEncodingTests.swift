// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Testing
import TypeEncodings
@testable import Invocations

@Suite("Adversarial encodings")
struct AdversarialEncodingTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var text: String
    var use: Use
    var isAccepted: Bool

    enum Use: Sendable {
      /// One type, which must have a layout.
      case type
      /// One type, which needs no layout: behind a pointer, for example.
      case spelling
      /// A method's signature, with receiver and selector.
      case method
      /// Any signature that has a call plan.
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
    Case("vv@:", .call), Case("{P=ii}}", .type), Case("}", .type),
    Case("{=ii}", .type, accepted: true), Case("{?=ii}", .type, accepted: true),
    Case("^{P}", .type, accepted: true), Case("v@:{P}", .call),
    // libffi refuses an empty structure, but C passes it without any data.
    Case("v{E=}", .call, accepted: true), Case("[]", .type), Case("[0i]@:", .call),
    Case("[-1i]", .type),
    Case("[18446744073709551617i]", .type),
    Case("[4294967296[4294967296c]]", .type), Case(many("{a=", 100_000), .type),
    Case("^^^v", .type, accepted: true), Case("^{N={P=ii}d^{N}}", .type, accepted: true),
    Case("(U=if[4c])", .type, accepted: true),
    Case("v(U=if[4c])", .call, accepted: true), Case("{B=b3b5b0b40}", .spelling, accepted: true),
    Case("v{B=b3b5b0b40}", .call),
    // The crossing field shows that no compiler wrote this; a layout that one writes is accepted.
    Case("{B=b0i3b3I5b32i0b64q40}", .type, accepted: true), Case("{B=b65}", .type),
    Case("{B=b-1}", .type), Case("{B=b99999999999}", .type), Case("b", .type),
    Case("@\"NSString\"", .type, accepted: true), Case("v@:@?@?<v@?i>", .call, accepted: true),
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

  @Test("each encoding is accepted, or refused with a place and a short reason", arguments: cases)
  func input(case one: Case) {
    func attempt() throws {
      switch one.use {
      case .type: _ = try TypeEncoding(parsing: one.text).layout
      case .spelling: _ = try TypeEncoding(parsing: one.text)
      case .method: _ = try CallPlan.shared(for: MethodSignature(method: one.text))
      case .call: _ = try CallPlan.shared(for: MethodSignature(parsing: one.text))
      }
    }
    do {
      try attempt()
      #expect(one.isAccepted)
    } catch {
      #expect(!one.isAccepted, "\(error)")
      // Every error has a place, and is short enough to print.
      #expect("\(error)".utf8.count < 1000)
    }
  }

  @Test("long double, long and BOOL have the sizes of this platform's compilers")
  func platformTypes() throws {
    #expect(try TypeEncoding(parsing: "D").layout.size == MemoryLayout<LongDouble>.size)
    #expect(try TypeEncoding(parsing: "l").layout.size == MemoryLayout<Int>.size)
    let call = try Invocation(parsing: "v@:cBC")
    #expect(throws: InvocationError.self) { try call.setArgument(true, at: 2) }
    #expect(throws: InvocationError.self) { try call.setArgument(true, at: 4) }
    try call.setArgument(true, at: 3)
  }

  @Test("the offset of a fault counts bytes")
  func byteOffsets() {
    let error = #expect(throws: TypeEncodingError.self) { try TypeEncoding(parsing: "{é=😀}") }
    #expect(error?.offset == 4)
  }
}
