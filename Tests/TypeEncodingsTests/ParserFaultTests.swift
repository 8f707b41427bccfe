// SPDX-License-Identifier: Apache-2.0
import Testing
import TypeEncodings

@Suite("Faults of an encoding are reported with their place")
struct ParserFaultTests {
  @Test(
    "faults of one type have the right place",
    arguments: [
      ("", 0, .empty),
      ("{_Point=dd", 10, .unterminated(what: "structure", closer: "}")),
      ("ii", 1, .trailingCharacters),
      ("{", 0, .unterminated(what: "structure", closer: "}")),
      ("{P", 2, .unterminated(what: "structure", closer: "}")),
      ("(U=i", 4, .unterminated(what: "union", closer: ")")),
      ("[", 0, .unterminated(what: "array", closer: "]")),
      ("[3i", 3, .unterminated(what: "array", closer: "]")),
      ("[3", 2, .unterminated(what: "array", closer: "]")),
      ("[3ii]", 3, .unterminated(what: "array", closer: "]")),
      ("[i]", 1, .missingNumber),
      ("^", 1, .unexpectedEnd),
      ("r", 1, .unexpectedEnd),
      ("x", 0, .unknownCode(0x78)),
      ("{S=ix}", 4, .unknownCode(0x78)),
      ("{}", 0, .invalidName),
      ("{=", 2, .unterminated(what: "structure", closer: "}")),
      ("@\"NSString", 10, .unterminated(what: "quoted name", closer: "\"")),
      ("@?<v@?", 6, .unterminated(what: "block signature", closer: ">")),
      ("j@", 1, .notAComplexBase),
      ("jB", 1, .notAComplexBase),
      ("{S=v}", 3, .voidIsNoValue),
      ("[2v]", 2, .voidIsNoValue),
      ("?", 0, .functionIsNoValue),
      ("{S=?}", 3, .functionIsNoValue),
      ("[99999999999i]", 1, .numberTooLarge(limit: EncodingLimits.size)),
      ("{S=d99999999999}", 4, .numberTooLarge(limit: EncodingLimits.size)),
      ("b65", 1, .numberTooLarge(limit: 64)),
      ("b2000C257", 6, .numberTooLarge(limit: 255)),
      ("![16 f]", 4, .malformedVector),
      ("![16,3f]", 0, .malformedVector),
      ("<2f", 3, .malformedVector),
      ("{a\u{0}=i}", 2, .invalidName),
      ("i\u{0}", 1, .trailingCharacters),
      ("{a==i}", 3, .unknownCode(0x3D)),
      ("[-1i]", 1, .missingNumber),
      ("{B=b-1}", 4, .missingNumber),
      ("b", 1, .missingNumber),
      // The place counts bytes.
      ("{é=😀}", 4, .unknownCode(0xF0)),
    ] as [(String, Int, TypeEncodingError.Reason)])
  func type(spelling: String, offset: Int, reason: TypeEncodingError.Reason) {
    #expect(throws: TypeEncodingError(reason: reason, offset: offset, encoding: spelling)) {
      try TypeEncoding(parsing: spelling)
    }
  }

  @Test(
    "faults of a signature have the right place",
    arguments: [
      ("v@:v", 3, .voidIsNoValue),
      ("vv@:", 1, .voidIsNoValue),
      ("v@:b3", 3, .bitFieldOutsideStructure),
      ("i99999999999999999999", 1, .numberTooLarge(limit: EncodingLimits.size)),
      ("v@:+", 4, .missingNumber),
      ("v@:{Foo=i", 9, .unterminated(what: "structure", closer: "}")),
      ("v@: i", 3, .unknownCode(0x20)),
    ] as [(String, Int, TypeEncodingError.Reason)])
  func signature(spelling: String, offset: Int, reason: TypeEncodingError.Reason) {
    #expect(throws: TypeEncodingError(reason: reason, offset: offset, encoding: spelling)) {
      try MethodSignature(parsing: spelling)
    }
  }

  @Test(
    "faults of an unknown layout have the right place",
    arguments: [
      ("{P}", 0, .opaque),
      ("{S=i{P}}", 4, .opaque),
      ("{B=b3b5}", 3, .bitFieldWithoutStorage),
      ("b8", 0, .bitFieldOutsideStructure),
      ("{B=b0C9}", 3, .bitFieldTooWide(limit: 8)),
      ("{B=b30I5}", 3, .bitFieldCrossesUnit),
      ("{B=ib0I3}", 4, .bitFieldOverlaps),
      ("<4f>", 0, .vectorWithoutAlignment),
      ("[4294967]", 8, .unknownCode(0x5D)),
      ("{N=i{N=d}}", 4, .containsItself),
      ("[2147483647[2147483647c]]", 0, .tooLarge(limit: EncodingLimits.size)),
      ("[1000000{Big=[1000000q]}]", 0, .tooLarge(limit: EncodingLimits.size)),
    ] as [(String, Int, TypeEncodingError.Reason)])
  func layout(spelling: String, offset: Int, reason: TypeEncodingError.Reason) {
    let error = #expect(throws: TypeEncodingError.self) {
      try TypeEncoding(parsing: spelling).layout
    }
    #expect(error?.reason == reason)
    if reason != .tooLarge(limit: EncodingLimits.size) { #expect(error?.offset == offset) }
  }

  @Test("an error is printed with the string, or a part of it, and a caret under the byte")
  func caret() throws {
    let short = #expect(throws: TypeEncodingError.self) { try MethodSignature(parsing: "v@:{P=dd") }
    #expect("\(short!)" == "the structure is not closed with '}'\nv@:{P=dd\n        ^")
    let spelling = String(repeating: "i", count: 1000) + "x" + String(repeating: "d", count: 1000)
    let long = #expect(throws: TypeEncodingError.self) {
      try TypeEncoding(parsing: "{S=" + spelling + "}")
    }
    let lines = "\(long!)".split(separator: "\n").map(Array.init)
    #expect(lines[1].count < 80)
    #expect(try lines[1][#require(lines[2].firstIndex(of: "^"))] == "x")
  }

  @Test("bytes that are not UTF-8 are refused at their offset")
  func invalidUTF8() {
    let error = #expect(throws: TypeEncodingError.self) {
      try TypeEncoding(utf8: Array("{é".utf8) + [0xFF] + Array("=i}".utf8))
    }
    #expect(error?.reason == .invalidUTF8)
    #expect(error?.offset == 3)
  }
}

@Suite("Limits of the parser")
struct LimitTests {
  @Test(
    "the nesting of types is limited",
    arguments: [("{a=", 20_000), ("^", 60_000), ("[1", 30_000), ("(u=", 20_000), ("@?<", 20_000)])
  func depth(part: String, count: Int) {
    let spelling = String(repeating: part, count: count)
    let error = #expect(throws: TypeEncodingError.self) { try TypeEncoding(parsing: spelling) }
    #expect(error?.reason == .nestedTooDeeply(limit: EncodingLimits.depth))
  }

  @Test("the deepest allowed type parses and prints")
  func deepest() throws {
    let spelling = String(repeating: "^", count: EncodingLimits.depth - 1) + "v"
    #expect(try TypeEncoding(parsing: spelling).description == spelling)
  }

  @Test("a text that is too long is refused in constant memory")
  func length() {
    for spelling in [
      String(repeating: "{P=ii}", count: 16 << 20 / 6),
      String(repeating: "r", count: 1_000_000) + "i",
      String(repeating: "^", count: 100_000) + "v",
    ] {
      let error = #expect(throws: TypeEncodingError.self) { try MethodSignature(parsing: spelling) }
      #expect(error?.reason == .tooLong(limit: EncodingLimits.length))
      #expect((error?.encoding.utf8.count ?? 0) < EncodingLimits.length + 128)
    }
  }

  @Test("254 declared arguments are accepted, 255 are not")
  func arguments() throws {
    let most = "v@:" + String(repeating: "i", count: 254)
    #expect(try MethodSignature(parsing: most).numberOfDeclaredArguments == 254)
    for more in [
      "v@:" + String(repeating: "i", count: 255), "v" + String(repeating: "i", count: 255),
      "v@:" + String(repeating: "i", count: 60_000),
    ] {
      let error = #expect(throws: TypeEncodingError.self) { try MethodSignature(parsing: more) }
      #expect(error?.reason == .tooManyArguments(limit: 254))
    }
    let long = "v@:" + String(repeating: "i", count: 1_500_000)
    #expect(throws: TypeEncodingError.self) { try MethodSignature(parsing: long) }
  }
}
