// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Testing
import InvocationText

@Suite("Values as text and as bytes")
struct ValueCoderTests {
  private func again(_ text: String, _ encoding: String) throws -> String {
    let type = try TypeEncoding(parsing: encoding)
    let coder = ValueCoder()
    let value = try ValueCoder.value(ofArgument: text, type)
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
      ("{S=b0I0}", "[0]"), ("{S=b0I0}", "[true]"),
    ])
  func refused(encoding: String, text: String) {
    #expect(throws: TextFault.self) { try again(text, encoding) }
  }

  @Test("elements without a size are not written in unlimited numbers")
  func emptyElements() throws {
    let type = try TypeEncoding(parsing: "(U=i[2000000000{e=}])")
    let bytes = [UInt8](repeating: 0, count: 4)
    #expect(throws: TextFault.self) { try ValueCoder.value(of: bytes[...], type) }
  }

  @Test("an array of elements with an unknown size is refused before the call")
  func opaqueElements() throws {
    let type = try TypeEncoding(parsing: "^{opaque}")
    #expect(throws: TextFault.self) { try ValueCoder().bytes(ofArgument: .array([]), type) }
  }
}
