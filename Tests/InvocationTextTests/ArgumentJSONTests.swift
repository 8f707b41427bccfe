// SPDX-License-Identifier: Apache-2.0
import Forwarding
import InvocationText
import Invocations
import Testing

@Suite("Arguments as JSON")
struct ArgumentJSONTests {
  static let same: [(String, String)] = [
    ("v", "[]"), ("vi", "[-7]"), ("vc", "[-128]"), ("vC", "[255]"), ("vB", "[true]"),
    ("vq", "[9223372036854775807]"), ("vQ", "[18446744073709551615]"),
    ("vq", "[9007199254740993]"), ("vT", "[340282366920938463463374607431768211455]"),
    ("vt", "[-170141183460469231731687303715884105728]"), ("vd", "[0.1]"), ("vf", "[0.1]"),
    ("vD", "[0.1]"), ("vd", "[\"nan\"]"), ("vf", "[\"-inf\"]"), ("vD", "[\"inf\"]"),
    ("vjd", "[[1,\"inf\"]]"), ("v*", "[\"a \\\"word\\\", a \\\\ and é\\n\\u0001\"]"),
    ("v*", "[\"\"]"), ("v*", "[null]"), ("v^v", "[null]"), ("v@", "[null]"), ("v^?", "[null]"),
    ("v{S=i{T=*d}}", "[[1,[\"inside\",2.5]]]"), ("v{S=b0i3b3I5}", "[[-4,31]]"),
    ("v{S=[2s]c}", "[[[1,-2],3]]"), ("v@:i*", "[7,\"seven\"]"), ("v@?d", "[0.5]"),
  ]

  @Test("arguments that were set are read back as the same JSON", arguments: same)
  func roundTrip(encoding: String, text: String) throws {
    let call = try Invocation(parsing: encoding)
    try call.setArguments(json: text)
    #expect(try call.argumentsJSON == text)
  }

  static let alike: [(String, String, String)] = [
    ("vi", " [ 0x10 ] ", "[16]"), ("vd", "[1e3]", "[1000]"), ("vd", "[inf]", "[\"inf\"]"),
    ("v*", "[\"\\u00e9\\ud83d\\ude00\\/\"]", "[\"é😀/\"]"),
    ("v(U=fi)", "[[1]]", "[[1,1065353216]]"), ("v^i", "[0]", "[null]"),
  ]

  @Test("other spellings of a value are read back in the usual one", arguments: alike)
  func spellings(encoding: String, text: String, shown: String) throws {
    let call = try Invocation(parsing: encoding)
    try call.setArguments(json: text)
    #expect(try call.argumentsJSON == shown)
  }

  private static let list =
    "a JSON array of the arguments is expected, such as [1, \"two\"]; write [] if there are none"
  private static let half =
    "this is one half of a surrogate pair; write both, as in \\ud83d\\ude00, or the character itself"

  static let refused: [(String, String, Int, String)] = [
    ("vi", "", 0, list), ("vi", "[1", 2, "',' or ']' is expected here"),
    ("vi", "[1,]", 3, "a JSON value is missing"),
    ("vi", "[1] 2", 4, "one value is expected, but more text follows it"),
    ("vi", "7", 0, list),
    ("vii", " 2, 3", 1, list),
    ("vi", "{\"a\": 2}", 0, list),
    ("vB", "[1]", 1, "1 does not fit Bool (B): true or false is expected"),
    ("v{S=B}", "[[0]]", 2, "0 does not fit Bool (B): true or false is expected"),
    ("vi", "[1,2]", 3, "1 argument is expected, 2 were given"),
    ("vii", " [1] ", 3, "2 arguments are expected, 1 was given"),
    ("v*", "[\"a]", 1, "the text is not closed with '\"'"),
    ("v*", "[\"a\\x\"]", 3, "JSON has no such escape; write a backslash as \\\\"),
    ("v*", "[\"a\\", 3, "JSON has no such escape; write a backslash as \\\\"),
    ("v*", "[\"\\ud800\"]", 2, half), ("v*", "[\"a\\udc00\"]", 3, half),
    ("v*", "[\"\\u+041\"]", 2, "JSON has no such escape; write a backslash as \\\\"),
    ("v*", "[\"a\\u0000b\"]", 1, "text for String (*) cannot contain a NUL, where C would end it"),
    ("v*", "[7]", 1, "7 does not fit String (*): write text in quotes"),
    ("vC", "[256]", 1, "256 does not fit UInt8 (C): an integer from 0 to 255 is expected"),
    (
      "vi", "[\"1\"]", 1,
      "\"1\" does not fit Int32 (i): an integer from -2147483648 to 2147483647 is expected"
    ),
    ("vd", "[1e999]", 1, "1e999 does not fit Double (d): it is too large; infinity is \"inf\""),
    (
      "v^i", "[0x10]", 1,
      "0x10 does not fit a pointer (^i): write null, or use 'unsafeJSON:' for addresses and what they point to"
    ),
    (
      "v^i", "[ten]", 1,
      "ten does not fit a pointer (^i): write null, or use 'unsafeJSON:' for addresses and what they point to"
    ),
    ("vd", "[\"one\"]", 1, "\"one\" does not fit Double (d): a number is expected"),
    (
      "v{S=ii}", "[[1]]", 1, "[1] does not fit a structure ({S=ii}): write a JSON array of 2 values"
    ),
    (
      "v{S=i{T=C}}", "[[1, [300]]]", 6,
      "300 does not fit UInt8 (C): an integer from 0 to 255 is expected"
    ),
    (
      "v^i", "[[1]]", 1,
      "[1] does not fit a pointer (^i): write null, or use 'unsafeJSON:' for addresses and what they point to"
    ),
    (
      "v@", "[0x1000]", 1,
      "0x1000 does not fit an object (@): write null, or use 'unsafeJSON:' for addresses and what they point to"
    ),
    (
      "v{S=*}", "[[0x1000]]", 2,
      "0x1000 does not fit String (*): write null, or use 'unsafeJSON:' for addresses and what they point to"
    ),
    ("v[2i]", "[[1]]", 1, "[1] does not fit an array ([2i]): write a JSON array of 2 values"),
    (
      "v:", "[\"nobody ever said this:\"]", 1,
      "no selector is called 'nobody ever said this:'; 'Selector(interning:)' makes one"
    ),
  ]

  @Test("a text that is no value of its type is refused, with its place", arguments: refused)
  func refusals(encoding: String, text: String, offset: Int, reason: String) throws {
    let call = try Invocation(parsing: encoding)
    let error = try #require(
      #expect(throws: InvocationTextError.self) { try call.setArguments(json: text) })
    #expect(error.offset == offset)
    #expect("\(error.reason)" == reason)
  }

  @Test("lists that nest too deeply are refused without a stack overflow")
  func deep() throws {
    let call = try Invocation(parsing: "vi")
    let text = String(repeating: "[", count: 100_000)
    let error = #expect(throws: InvocationTextError.self) { try call.setArguments(json: text) }
    #expect(error?.reason == .nestedTooDeeply(limit: 64))
  }

  @Test("an error shows the argument and the reason, then the text and a caret")
  func caret() throws {
    let call = try Invocation(parsing: "v@:i*")
    let error = #expect(throws: InvocationTextError.self) {
      try call.setArguments(json: "[1, two]")
    }
    #expect(
      "\(try #require(error))" == """
        argument 3: two does not fit String (*): write text in quotes
        [1, two]
            ^
        """)
  }

  @Test("nested arrays of empty structures are refused, as one long array of them is")
  func nestedEmptyArrays() throws {
    for array in ["[5000{e=}]", "[100[100[100{e=}]]]"] {
      let call = try Invocation(parsing: "{s=i\(array)}{s=i\(array)}")
      for read in [{ try call.argumentsJSON }, { try call.resultJSON }] {
        try unsafe call.setResult(bytes: [1, 0, 0, 0])
        let error = #expect(throws: InvocationTextError.self) { try read() }
        guard case .tooManyElements = error?.reason else {
          Issue.record("\(String(describing: error))")
          continue
        }
      }
      #expect(throws: InvocationTextError.self) { try call.setArguments(json: "[[1,[]]]") }
    }
  }

  @Test("a bit-field without bits can be set: it is 0")
  func emptyBitField() throws {
    let call = try Invocation(parsing: "v{s=b0I3b32I0b32I5}")
    try call.setArguments(json: "[[5,0,9]]")
    #expect(try call.argumentsJSON == "[[5,0,9]]")
    let error = #expect(throws: InvocationTextError.self) {
      try call.setArguments(json: "[[5,1,9]]")
    }
    #expect("\(try #require(error).reason)".hasSuffix(": it has no bits, so only 0 fits"))
  }

  @Test("either all arguments are set or none")
  func allOrNone() throws {
    let call = try Invocation(parsing: "vi*C")
    try call.setArguments(json: "[1,\"one\",1]")
    #expect(throws: InvocationTextError.self) { try call.setArguments(json: "[2,\"two\",256]") }
    #expect(try call.argumentsJSON == "[1,\"one\",1]")
  }

  @Test("text inside a structure lives as long as a copy of the call")
  func copies() throws {
    var call = try Invocation(parsing: "v{S=*}")
    try call.setArguments(json: "[[\"kept by whoever shows it\"]]")
    call = call.copy()
    #expect(try call.argumentsJSON == "[[\"kept by whoever shows it\"]]")
  }

  @Test("an existing selector is found by its name")
  func selectors() throws {
    let known: Selector = "wellKnown:"
    let call = try Invocation(parsing: "v:")
    try call.setArguments(json: "[\"wellKnown:\"]")
    #expect(try call.argument(at: 0, as: Selector.self) == known)
    #expect(try call.argumentsJSON == "[\"wellKnown:\"]")
  }

  struct Named: CallStructure {
    var name: UnsafePointer<CChar>?
    static var structure: VouchedStructure<Named> { unsafe VouchedStructure("{named=*}") }
  }

  @Test("text that the call does not own is not read inside a structure")
  func textOfOthers() throws {
    let call = try Invocation(parsing: "v{named=*}")
    try call.setArgument(Named(name: UnsafePointer(bitPattern: 0x1000)), at: 0)
    #expect(try call.argumentsJSON == "[[\"0x1000\"]]")
  }

  @Test("addresses in a union are not read, because another member may be stored there")
  func unions() throws {
    let call = try Invocation(parsing: "v(U=q*)")
    try call.setArguments(json: "[[4096]]")
    #expect(try call.argumentsJSON == "[[4096,\"0x1000\"]]")
  }

  @Test("arguments cannot be set while a call uses them")
  func inUse() throws {
    nonisolated(unsafe) let call = try Invocation(parsing: "v@:i*")
    try call.setSelector("set:to:")
    try call.setArguments(json: "[1,\"one\"]")
    let target = ClosureTarget()
    try target.register("set:to:") { (_: Int32, _: String) in
      do throws(InvocationTextError) { try call.setArguments(json: "[2,\"two\"]") } catch {
        #expect(error.reason == .refused(.argumentInUse(index: 2)))
        return
      }
      Issue.record("they were set")
    }
    try call.invoke(on: target)
    #expect(try call.argumentsJSON == "[1,\"one\"]")
  }
}
