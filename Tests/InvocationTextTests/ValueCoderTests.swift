// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Testing
import InvocationText
import TypeEncodings

@Suite("Values as text and as bytes")
struct ValueCoderTests {
  private func again(_ text: String, _ encoding: String) throws -> String {
    let type = try TypeEncoding(parsing: encoding)
    let coder = ValueCoder()
    let value = ValueCoder.value(ofArgument: text, type)
    return "\(try ValueCoder.value(of: coder.bytes(ofArgument: value, type)[...], type))"
  }

  @Test(
    "bit-fields of any width store every number that fits",
    arguments: [
      ("{S=b0T128}", "[340282366920938463463374607431768211455]"), ("{S=b0T128}", "[0]"),
      ("{S=b0t128}", "[-170141183460469231731687303715884105728]"), ("{S=b0t128}", "[-1]"),
      ("{S=b0t127}", "[-1]"), ("{S=b0t1}", "[-1]"), ("{S=b0T1b1T127}", "[1,1]"),
      ("{S=b0i3b3I5}", "[-4,31]"), ("{S=b0B1}", "[true]"),
    ])
  func bitFields(encoding: String, text: String) throws {
    #expect(try again(text, encoding) == text)
  }

  @Test(
    "bit-fields refuse numbers that do not fit",
    arguments: [
      ("{S=b0T128}", "[-1]"), ("{S=b0t128}", "[170141183460469231731687303715884105728]"),
      ("{S=b0i3}", "[4]"), ("{S=b0i3}", "[-5]"), ("{S=b0I3}", "[8]"), ("{S=b0I3}", "[-1]"),
      ("{S=b0I0}", "[1]"), ("{S=b0I0}", "[true]"),
    ])
  func refused(encoding: String, text: String) {
    #expect(throws: InvocationTextError.self) { try again(text, encoding) }
  }

  @Test("elements without a size are not written in unlimited numbers")
  func emptyElements() throws {
    let type = try TypeEncoding(parsing: "(U=i[2000000000{e=}])")
    let bytes = [UInt8](repeating: 0, count: 4)
    #expect(throws: InvocationTextError.self) { try ValueCoder.value(of: bytes[...], type) }
  }

  @Test(
    "elements of nested arrays, and bit-fields, without a size are counted together",
    arguments: [
      ("[100[100[100{e=}]]]", false), ("[64[64{e=}]]", false), ("[4097{e=}]", false),
      ("[4096{e=}]", true), ("[60[60{e=}]]", true),
      (String(repeating: "b32I0", count: 4096), true),
      (String(repeating: "b32I0", count: 4097), false),
    ])
  func nestedEmptyElements(members: String, isWritten: Bool) throws {
    let type = try TypeEncoding(parsing: "{s=i\(members)}")
    let bytes = [UInt8](repeating: 0, count: 4)
    if isWritten {
      #expect(throws: Never.self) { try ValueCoder.value(of: bytes[...], type) }
    } else {
      let error = #expect(throws: InvocationTextError.self) {
        try ValueCoder.value(of: bytes[...], type)
      }
      guard case .tooManyElements = error?.reason else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
  }

  @Test("an array may have an empty value for each byte")
  func emptyMembers() throws {
    let type = try TypeEncoding(parsing: "{s=[5000{T=c{e=}}]}")
    let bytes = [UInt8](repeating: 1, count: 5000)
    #expect(throws: Never.self) { try ValueCoder.value(of: bytes[...], type) }
    let empty = String(repeating: "{e=}", count: 1000)
    let large = try TypeEncoding(parsing: "{s=[50[100{T=c\(empty)}]]}")
    #expect(throws: InvocationTextError.self) { try ValueCoder.value(of: bytes[...], large) }
  }

  @Test(
    "a hexadecimal number may have all bits of its type",
    arguments: [
      ("0xffffffffffffffffffffffffffffffff", "T", "340282366920938463463374607431768211455"),
      ("0x80000000000000000000000000000000", "T", "170141183460469231731687303715884105728"),
      (
        "[0XFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF]", "{S=b0T128}",
        "[340282366920938463463374607431768211455]"
      ),
      ("-0x80000000000000000000000000000000", "t", "-170141183460469231731687303715884105728"),
    ])
  func hexadecimal(text: String, encoding: String, shown: String) throws {
    #expect(try again(text, encoding) == shown)
  }

  @Test(
    "a hexadecimal number that does not fit is refused",
    arguments: [
      ("0x100000000000000000000000000000000", "T"), ("0x80000000000000000000000000000000", "t"),
      ("-0x1", "T"), ("0x", "T"), ("0x+1", "T"), ("0x-1", "T"), ("++1", "T"),
    ])
  func tooLargeHexadecimal(text: String, encoding: String) {
    #expect(throws: InvocationTextError.self) { try again(text, encoding) }
  }

  @Test("a bit-field without bits is written as it is shown, and has no other value")
  func emptyBitFields() throws {
    for (encoding, text) in [("{s=b0I3b32I0b32I5}", "[5,0,9]"), ("{S=b0i0}", "[0]")] {
      #expect(try again(text, encoding) == text)
    }
    for (encoding, text) in [
      ("{s=b0I3b32I0b32I5}", "[5,1,9]"), ("{S=b0i0}", "[-1]"), ("{S=b0I0}", "[true]"),
      ("{S=b0I0}", "[null]"), ("{S=b0I0}", "[]"),
    ] {
      #expect(throws: InvocationTextError.self, "\(encoding) \(text)") { try again(text, encoding) }
    }
  }

  @Test(
    "a number in digits that is too large for its type is refused",
    arguments: [
      ("1e999", "d"), ("-1e999", "d"), ("1e40", "f"), ("0x1p1024", "d"), ("1e5000", "D"),
      ("[1,1e40]", "jf"), ("3.4028236e38", "f"),
    ])
  func tooLarge(text: String, encoding: String) {
    #expect(throws: InvocationTextError.self) { try again(text, encoding) }
  }

  @Test(
    "the largest numbers of a type, and infinities by their names, are read",
    arguments: [
      ("3.4028235e38", "f", "3.4028235e+38"), ("1e308", "d", "1e+308"), ("inf", "f", "\"inf\""),
      ("-infinity", "d", "\"-inf\""), ("1e-999", "d", "0"),
    ])
  func largest(text: String, encoding: String, shown: String) throws {
    #expect(try again(text, encoding) == shown)
  }

  @Test("an array of elements with an unknown size is refused before the call")
  func opaqueElements() throws {
    let type = try TypeEncoding(parsing: "^{opaque}")
    #expect(throws: InvocationTextError.self) {
      try ValueCoder().bytes(ofArgument: .array([]), type)
    }
  }
}
