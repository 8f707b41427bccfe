// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Testing

@testable import TypeEncodings

@Suite("The fast path for simple signatures")
struct GlanceTests {
  /// All texts of up to `length` letters.
  private func texts(_ letters: [Character], upTo length: Int) -> [String] {
    var all = [""]
    var last = [""]
    for _ in 0..<length {
      last = last.flatMap { text in letters.map { text + String($0) } }
      all += last
    }
    return all
  }

  @Test("the parser accepts what the fast path accepts, with the same result")
  func agrees() throws {
    var taken = 0
    for text in texts(Array("v@:i#*^d0\"{B"), upTo: 4) {
      guard let glance = SignatureGlance(text) else { continue }
      taken += 1
      let parsed = try ParsedSignature(Array(text.utf8), StructureLayouts())
      #expect(parsed.roots.count - 1 == glance.argumentCount, "\(text)")
      #expect((parsed.shape == .method) == glance.isMethod, "\(text)")
      #expect(glance.isMethod || parsed.shape == .function, "\(text)")
    }
    #expect(taken > 1000)
  }

  @Test("every type of one character and every digit is accepted, and nothing else")
  func letters() {
    for code in UInt8.min...UInt8.max {
      let text = "v" + String(Unicode.Scalar(code))
      let isPlain =
        Scalar(rawValue: code) != nil || Array("@:#*".utf8).contains(code)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(code)
      #expect((SignatureGlance(text) != nil) == isPlain, "\(text)")
    }
  }

  @Test("a signature from the fast path equals a parsed one, and prints the same")
  func equal() throws {
    let glanced = try MethodSignature(parsing: "i24@0:8i16i20")
    let parsed = try MethodSignature(parsingUTF8: Array("i24@0:8i16i20".utf8))
    #expect(glanced == parsed)
    #expect(glanced.identity == parsed.identity)
    #expect(glanced.description == parsed.description)
    #expect(try glanced.advisoryOffset(at: 3) == 20)
    #expect(glanced.numberOfArguments == 4)
    #expect(glanced.shape == .method)
    #expect(SignatureGlance("v@:" + String(repeating: "i", count: 30)) != nil)
    #expect(SignatureGlance("v@:" + String(repeating: "i", count: 31)) == nil)
    #expect(SignatureGlance("i1234567890") == nil)
  }

  @Test("a text of megabytes is not read to its end")
  func hostile() {
    let long = String(repeating: "i", count: 50_000_000)
    // Reading them all would take hours.
    let time = CPUTime.milliseconds {
      for _ in 0..<100_000 where SignatureGlance(long) != nil { Issue.record("it was read") }
      #expect(throws: TypeEncodingError.self) { try MethodSignature(parsing: long) }
    }
    #expect(time < 60_000)
  }
}
