// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import ForwardingTestSupport
import Glibc
import Invocations
import Testing
import TypeEncodings

@Suite("Text that is lent to C")
struct LentTextTests {
  /// Texts of every storage that a string may have: small, of 15 and 16 bytes, made, literal.
  static let texts = [
    "", "a", "seven", "eighteen", "fifteen letters", "sixteen letters.", "é", "größer, größer",
    "a literal of more than fifteen letters", String(repeating: "made ", count: 40),
    String(repeating: "größer ", count: 1000),
  ]

  private static func functions() throws -> FunctionTable {
    try FunctionTable(ofProgram: [
      "strlen": "Q*", "strcmp": "i**", "strdup": "^v*", "strchr": "**i",
    ])
  }

  @Test("C functions get every text as it is, by name and looked up")
  func whole() throws {
    let functions = try Self.functions()
    let copy = try functions.function("strdup", as: ((String) -> UnsafeMutablePointer<CChar>).self)
    let compare = try functions.function("strcmp", as: ((String, String) -> Int32).self)
    for (index, text) in Self.texts.enumerated() {
      let copied = try copy(text)
      defer { free(copied) }
      #expect(String(cString: copied) == text)
      let length = try functions.call("strlen", text, returning: UInt.self)
      #expect(length == UInt(text.utf8.count))
      let substring = String(("<" + text + ">").dropFirst().dropLast())
      #expect(try functions.call("strlen", substring, returning: UInt.self) == length)
      for (other, second) in Self.texts.enumerated() {
        #expect((try compare(text, second) == 0) == (index == other))
      }
    }
  }

  @Test("text is passed at every place, with numbers of every width, and more than are lent")
  func places() throws {
    typealias Text = UnsafePointer<CChar>
    let sum: @convention(c) (Int8, Text?, UInt16, Text?) -> Int32 = {
      Int32($0) + Int32($1.map(strlen) ?? 100) * 10 + Int32($2) + Int32($3.map(strlen) ?? 100)
    }
    let join: @convention(c) (Text, Text, Text, Text, Text, Text, Text, Text, Text) -> Int = {
      [$0, $1, $2, $3, $4, $5, $6, $7, $8].reduce(0) { 10 * $0 + strlen($1) }
    }
    let functions = FunctionTable()
    for (name, encoding, function) in [
      ("sum", "ic*S*", unsafeBitCast(sum, to: UnsafeRawPointer.self)),
      ("join", "q*********", unsafeBitCast(join, to: UnsafeRawPointer.self)),
    ] { try functions.register(name, encoding: encoding, unsafeFunction: function) }
    let typed = try functions.function("sum", as: ((Int8, String, UInt16, String?) -> Int32).self)
    #expect(try typed(-3, "ab", 40_000, "four") == -3 + 20 + 40_000 + 4)
    #expect(try typed(-128, "", 65_535, nil) == -128 + 65_535 + 100)
    let long = String(repeating: "made", count: 50)
    #expect(try typed(0, long, 0, long) == 2200)
    #expect(try functions.call("sum", Int8(1), "a", UInt16(1), "bb", returning: Int32.self) == 14)
    let discarded: Void = try functions.call("sum", Int8(1), "a", UInt16(1), "bb")
    #expect(discarded == ())
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
      let refused = InvocationError.embeddedNUL(offset: offset)
      #expect(throws: refused) { try length(text) }
      #expect(throws: refused) { try compare("a", text) }
      #expect(throws: refused) { try functions.call("strlen", text, returning: UInt.self) }
    }
  }

  /// The number of allocations of a body after its first run.
  private static func allocations(_ body: () throws -> Void) rethrows -> Int {
    try body()
    let before = fixture_allocations()
    try body()
    return fixture_allocations() - before
  }

  @Test(
    "text in and out of a C function takes no allocation",
    .enabled(if: fixture_allocations() >= 0, "this C library counts no allocations"),
    .notEmulated("the library of Swift 6.2, which is there, allocates in unoptimized loops"))
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

  @Test(
    "a copy of a C string is never NULL in silence: the program ends with a sentence",
    .enabled(if: fixture_is_sanitized() == 0, "a sanitizer reserves memory without end"),
    .notEmulated("it does not limit the memory of a process"))
  func scarce() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let size = 64 << 20
      let text = try #require(UnsafeMutablePointer<CChar>(OpaquePointer(malloc(size))))
      memset(text, 65, size - 1)
      text[size - 1] = 0
      let call = try Invocation(parsing: "v*")
      try call.setArgument(UnsafePointer(text), at: 0)
      // `RLIMIT_AS` is 9.
      var limit = rlimit(rlim_cur: 0, rlim_max: 0)
      setrlimit(__rlimit_resource_t(9), &limit)
      call.retainArguments()
      exit(EXIT_SUCCESS)
    }
    let said = try printed(result)
    #expect(said.contains("no memory for the copy of a C string of 67108863 bytes"), "\(said)")
  }
}
