// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import Testing
import TypeEncodings

import Invocations

import Glibc

@Suite("Text that is lent to C")
struct LentTextTests {
  /// Texts of every storage that a string may have: small, of 15 and 16 bytes, made, literal.
  static let texts = [
    "", "a", "seven", "eighteen", "fifteen letters", "sixteen letters.", "é", "größer, größer",
    "a literal of more than fifteen letters", String(repeating: "made ", count: 40),
    String(repeating: "größer ", count: 1000),
  ]

  @Test("a C function gets every text as it is, by name and looked up", arguments: texts)
  func whole(text: String) throws {
    let functions = try Self.functions()
    let copy = try functions.function("strdup", as: ((String) -> UnsafeMutablePointer<CChar>).self)
    let copied = try copy(text)
    defer { free(copied) }
    #expect(String(cString: copied) == text)
    let length = try functions.call("strlen", text, returning: UInt.self)
    #expect(length == UInt(text.utf8.count))
    let substring = String(("<" + text + ">").dropFirst().dropLast())
    #expect(try functions.call("strlen", substring, returning: UInt.self) == length)
  }

  @Test("several texts, missing text and other values are passed together")
  func several() throws {
    let functions = try Self.functions()
    let compare = try functions.function("strcmp", as: ((String, String) -> Int32).self)
    for (index, text) in Self.texts.enumerated() {
      for (other, second) in Self.texts.enumerated() {
        #expect((try compare(text, second) == 0) == (index == other))
      }
    }
    let prefix = try functions.function("strncmp", as: ((String, String?, UInt) -> Int32).self)
    #expect(try prefix("seven", "sever", 4) == 0)
    #expect(try prefix("seven", nil, 0) == 0)
    let number = try functions.function("strtod", as: ((String, UnsafeRawPointer?) -> Double).self)
    #expect(try number("2.5", nil) == 2.5)
  }

  @Test("more texts than are lent are passed, too")
  func many() throws {
    let functions = FunctionTable()
    let join:
      @convention(c) (
        UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>,
        UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>,
        UnsafePointer<CChar>
      ) -> Int = { a, b, c, d, e, f, g, h, i in
        [a, b, c, d, e, f, g, h, i].reduce(0) { 10 * $0 + strlen($1) }
      }
    try functions.register(
      "join", encoding: "q*********", unsafeFunction: unsafeBitCast(join, to: UnsafeRawPointer.self)
    )
    let number = try functions.call(
      "join", "1", "22", "333", "", "1", "22", "333", "", "1", returning: Int.self)
    #expect(number == 123_012_301)
  }

  @Test("a text with a NUL is refused at its offset, and the function is not called")
  func embeddedNUL() throws {
    let functions = try Self.functions()
    let length = try functions.function("strlen", as: ((String) -> UInt).self)
    let compare = try functions.function("strcmp", as: ((String, String) -> Int32).self)
    for (text, offset) in [
      ("\0", 0), ("a\0b", 1), ("seven.\0", 6), ("fourteen byte\0.", 13), ("fifteen bytes.\0", 14),
      (String(repeating: "made", count: 50) + "\0.", 200),
    ] {
      #expect(throws: InvocationError.embeddedNUL(offset: offset)) { try length(text) }
      #expect(throws: InvocationError.embeddedNUL(offset: offset)) { try compare("a", text) }
      #expect(throws: InvocationError.embeddedNUL(offset: offset)) {
        try functions.call("strlen", text, returning: UInt.self)
      }
    }
  }

  @Test("a result that points into an argument is read while the argument is lent")
  func resultInArgument() throws {
    let functions = try Self.functions()
    let tail = try functions.function("strchr", as: ((String, Int32) -> String?).self)
    #expect(try tail("seven", 118) == "ven")
    #expect(try tail(String(repeating: "a", count: 100) + "ven", 118) == "ven")
    #expect(try tail("seven", 120) == nil)
    let found = try functions.function("strchr", as: ((String, Int32) -> String).self)
    #expect(throws: InvocationError.notText(index: nil)) { try found("seven", 120) }
  }

  @Test("few words are passed with text at every place, and with numbers of every width")
  func fewWords() throws {
    let functions = FunctionTable()
    let sum: @convention(c) (Int8, UnsafePointer<CChar>?, UInt16, UnsafePointer<CChar>?) -> Int32 =
      {
        Int32($0) + Int32($1.map(strlen) ?? 100) * 10 + Int32($2) + Int32($3.map(strlen) ?? 100)
      }
    try functions.register(
      "sum", encoding: "ic*S*", unsafeFunction: unsafeBitCast(sum, to: UnsafeRawPointer.self))
    let typed = try functions.function(
      "sum", as: ((Int8, String, UInt16, String?) -> Int32).self)
    #expect(try typed(-3, "ab", 40_000, "four") == -3 + 20 + 40_000 + 4)
    #expect(try typed(-128, "", 65_535, nil) == -128 + 65_535 + 100)
    let long = String(repeating: "made", count: 50)
    #expect(try typed(0, long, 0, long) == 2200)
    #expect(
      try functions.call("sum", Int8(1), "a", UInt16(1), "bb", returning: Int32.self) == 14)
    let discarded: Void = try functions.call("sum", Int8(1), "a", UInt16(1), "bb")
    #expect(discarded == ())
  }

  @Test("a C function's NULL is no pointer")
  func nullPointer() throws {
    let functions = try Self.functions()
    let tail = try functions.function(
      "strchr", as: ((String, Int32) -> UnsafeRawPointer).self)
    #expect(throws: InvocationError.nullPointer(index: nil)) { try tail("seven", 120) }
  }

  @Test(
    "text in and out of a C function takes no allocation",
    .enabled(if: fixture_allocations() >= 0))
  func allocations() throws {
    let functions = try Self.functions()
    let length = try functions.function("strlen", as: ((String) -> UInt).self)
    let tail = try functions.function("strchr", as: ((String, Int32) -> String).self)
    let (small, large) = ("fifteen letters", String(repeating: "larger", count: 40))
    // The counter counts. The optimizer removes a copy that nothing else sees.
    var copies: [UnsafeMutablePointer<CChar>?] = [nil]
    #expect(Self.allocations { copies[0] = strdup(small) } >= 1)
    #expect(copies[0].map { strlen($0) } == 15)
    free(copies[0])
    for text in [small, large] {
      #expect(try Self.allocations { _ = try length(text) } == 0)
      #expect(
        try Self.allocations { _ = try functions.call("strlen", text, returning: UInt.self) } == 0)
      #expect(try Self.allocations { try functions.call("strlen", text) } == 0)
    }
    #expect(try Self.allocations { _ = try tail(small, 101) } == 0)
  }

  private static func functions() throws -> FunctionTable {
    let functions = FunctionTable()
    for (name, encoding) in [
      ("strlen", "Q*"), ("strcmp", "i**"), ("strncmp", "i**Q"), ("strtod", "d*^v"),
      ("strdup", "^v*"), ("strchr", "**i"),
    ] {
      try functions.register(name, encoding: encoding, unsafeSymbolIn: Library(""))
    }
    return functions
  }

  /// The number of allocations of a body after its first run.
  private static func allocations(_ body: () throws -> Void) rethrows -> Int {
    try body()
    let before = fixture_allocations()
    try body()
    return fixture_allocations() - before
  }
}

@Suite("Text that no memory is left for")
struct ScarceTextTests {
  @Test(
    "a copy of a C string is never NULL in silence: the program ends with a sentence",
    .enabled(if: fixture_is_sanitized() == 0, "a sanitizer reserves memory without end"))
  func copy() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let size = 64 << 20
      let text = try #require(UnsafeMutablePointer<CChar>(OpaquePointer(malloc(size))))
      memset(text, 65, size - 1)
      text[size - 1] = 0
      let call = try Invocation(parsing: "v*")
      try call.setArgument(bytes: withUnsafeBytes(of: text) { Array($0) }, at: 0)
      // `RLIMIT_AS` is 9.
      var limit = rlimit(rlim_cur: 0, rlim_max: 0)
      setrlimit(__rlimit_resource_t(9), &limit)
      call.retainArguments()
      exit(EXIT_SUCCESS)
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("no memory for the copy of a C string of 67108863 bytes"), "\(said)")
  }
}
