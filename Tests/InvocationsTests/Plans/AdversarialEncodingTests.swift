// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Invocations
import Testing
import TypeEncodings

/// What the parser accepts is in TypeEncodingsTests, and which types are passed in CallPlacesTests.
@Suite("Adversarial encodings")
struct AdversarialEncodingTests {
  private static func many(_ text: String, _ count: Int) -> String {
    String(repeating: text, count: count)
  }

  static let cases: [(encoding: String, isAccepted: Bool)] = [
    ("", false), ("v", true), ("v@", true), ("@:", true), ("vv@:", false), ("v@:v", false),
    ("v@:{P}", false), ("v{E=}", true), ("[0i]@:", false), ("v(U=if[4c])", true),
    ("v{B=b3b5b0b40}", false), ("v@:@?@?<v@?i>", true), ("v^?", true),
    ("vrn*16N^i24O@32R@40", true), ("Vv48@0:8", true), ("i24@0:8i16c20", true),
    ("i24@8:0i16", true), ("i99999999999999999999", false), ("v-8@+0", true), ("jfjdji", true),
    ("DD", true), ("tT", true), ("vAi", true), ("v ", false), ("v@:\u{0}i", false),
    ("v@:😀", false), ("v^{N={P=ii}d^{N}}", true), ("v{B=b0i3b3I5b32i0b64q40}", true),
    ("v@:" + many("i", 254), true), ("v@:" + many("i", 255), false),
    ("v@:" + many("i", 1_500_000), false), (many("{P=ii}", 2_796_202), false),
    (many("{a=", 100_000), false), ("v[4294967296[4294967296c]]", false),
  ]

  @Test("an encoding is planned, or refused with a place and a reason short enough to print")
  func input() {
    for (encoding, isAccepted) in Self.cases {
      let start = encoding.prefix(40)
      do {
        _ = try Invocation(parsing: encoding)
        #expect(isAccepted, "\(start)")
      } catch {
        #expect(!isAccepted, "\(start): \(error)")
        #expect("\(error)".utf8.count < 1000, "\(start)")
      }
    }
  }
}
