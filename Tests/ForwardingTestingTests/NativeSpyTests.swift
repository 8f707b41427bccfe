// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import ForwardingTesting
import Foundation
import Testing

/// C libraries with callbacks. A spy behind a `MessageCallback` records the calls of the library.
@Suite("A spy behind a C function pointer")
struct NativeSpyTests {
  let spy = SpyProxy()
  private let functions = FunctionTable()

  /// Whether a library can be loaded.
  private static func has(_ name: String) -> Bool { dlopen(name, RTLD_LAZY) != nil }

  private func load(_ library: String, _ prefix: String, _ names: KeyValuePairs<String, String>)
    throws
  {
    let library = try Library(library)
    for (name, encoding) in names {
      try unsafe functions.register(
        name, encoding: encoding, unsafeSymbolIn: library, symbol: prefix + name)
    }
  }

  /// An SQLite database in memory. The test closes it.
  private func openDatabase() throws -> UnsafeMutableRawPointer? {
    try load(
      "libsqlite3.so.0", "sqlite3_",
      ["open": "i*^^v", "exec": "i^v*^?^v^v", "update_hook": "^v^v^?^v", "close": "i^v"])
    var database: UnsafeMutableRawPointer?
    let opened = try withUnsafeMutablePointer(to: &database) {
      try functions.call("open", ":memory:", $0, returning: Int32.self)
    }
    #expect(opened == 0)
    return database
  }

  @Test(
    "the rows and changes that SQLite reports are recorded",
    .enabled(if: has("libsqlite3.so.0"), "needs libsqlite3-0"))
  func sqlite() throws {
    let database = try openDatabase()
    let nothing = nil as UnsafeRawPointer?

    // void hook(void *, int operation, char const *database, char const *table, sqlite3_int64 row)
    let changed = try Message<NoResult, Int32, String, String, Int64>(
      "operation:database:table:row:")
    let hook = try MessageCallback(
      to: spy, selector: changed.selector, encoding: "v^vi**q", skipping: 1)
    try functions.call("update_hook", database, hook.address, nothing)
    // int row(void *, int count, char **values, char **names)
    typealias Texts = UnsafePointer<UnsafePointer<CChar>?>
    let row = try Message<Int32, Int32, Texts, Texts>("columns:values:names:")
    let texts = try Message<NoResult, String>("text:")
    spy[row].answer { [spy] count, values, _ in
      // The memory behind a pointer is invalid after the call.
      for column in 0..<Int(count) {
        try texts(values[column].map { String(cString: $0) } ?? "NULL", on: spy)
      }
      return 0
    }
    let rows = try MessageCallback(
      to: spy, selector: row.selector, encoding: "i^vi^*^*", skipping: 1)
    func run(_ sql: String) throws -> Int32 {
      try functions.call(
        "exec", database, sql, rows.address, nothing, nothing, returning: Int32.self)
    }
    #expect(try run("create table notes (text); insert into notes values ('one'), ('two')") == 0)
    #expect(try run("select text, null from notes") == 0)
    #expect(spy[texts].received == ["one", "NULL", "two", "NULL"])
    #expect(spy[row].uncheckedReceived.map(\.0) == [2, 2])
    #expect(try run("delete from notes where text = 'one'") == 0)
    #expect(spy[changed].received.map(\.0) == [18, 18, 9])
    #expect(spy[changed].received.map(\.2) == ["notes", "notes", "notes"])
    spy[changed].where(\.3, equals: 1).expect(times: 2)
    verifyInOrder {
      spy[changed].with(18, "main", "notes", 2)
      spy[changed].with(9, "main", "notes", 1)
    }
    _ = try functions.call("close", database, returning: Int32.self)
    withExtendedLifetime((hook, rows)) {}
  }

  @Test(
    "a spy waits for calls of SQLite on another thread, and rejected ones fail",
    .enabled(if: has("libsqlite3.so.0"), "needs libsqlite3-0"), .timeLimit(.minutes(10)))
  func sqliteElsewhere() async throws {
    let failures = Failures()
    let spy = SpyProxy(reportingTo: failures)
    nonisolated(unsafe) let database = try openDatabase()
    let functions = functions
    let changed = try Message<NoResult, Int32, String, String, Int64>(
      "operation:database:table:row:")
    let hook = try MessageCallback(
      to: spy, selector: changed.selector, encoding: "v^vi**q", skipping: 1)
    try functions.call("update_hook", database, hook.address, nil as UnsafeRawPointer?)
    // No row is deleted.
    spy[changed].where(\.0, equals: 9).reject()
    beginThread {
      for sql in [
        "create table notes (text)", "insert into notes values ('one')",
        "delete from notes where text = 'one'",
        "insert into notes values ('two')",
      ] {
        _ = try? functions.call(
          "exec", database, sql, nil as UnsafeRawPointer?, nil as UnsafeRawPointer?,
          nil as UnsafeRawPointer?, returning: Int32.self)
      }
    }
    try await spy[changed].expect(times: 3, within: .seconds(300))
    #expect(spy[changed].received.map(\.0) == [18, 9, 18])
    #expect(
      failures.all.map(\.expected) == ["no call of 'operation:database:table:row:' with 9"])
    try await spy[changed].where(\.0, equals: 23).expect(within: .milliseconds(1))
    #expect(failures.all.last?.given == "received none")
    #expect(failures.all.last?.received.first?.hasPrefix("operation:database:table:row:(") == true)
    _ = try functions.call("close", database, returning: Int32.self)
    withExtendedLifetime(hook) {}
  }

  @Test(
    "the elements and texts that expat reports are recorded",
    .enabled(if: has("libexpat.so.1"), "needs libexpat1"))
  func expat() throws {
    try load(
      "libexpat.so.1", "XML_",
      [
        "ParserCreate": "^v*", "SetElementHandler": "v^v^?^?", "SetCharacterDataHandler": "v^v^?",
        "Parse": "i^v*ii", "ParserFree": "v^v",
      ])
    let parser = try functions.call(
      "ParserCreate", nil as String?, returning: UnsafeMutableRawPointer?.self)
    // void start(void *, char const *name, char const **attributes); void end(void *, char const *name)
    let start = try Message<NoResult, String>("start:")
    let end = try Message<NoResult, String>("end:")
    let text = try Message<NoResult, UnsafePointer<CChar>, Int32>("text:length:")
    let said = try Message<NoResult, String>("said:")
    spy[text].answer { [spy] bytes, count in
      let buffer = UnsafeRawBufferPointer(start: bytes, count: Int(count))
      try said(String(decoding: buffer, as: UTF8.self), on: spy)
      return NoResult()
    }
    let doors = [
      try MessageCallback(to: spy, selector: start.selector, encoding: "v^v*", skipping: 1),
      try MessageCallback(to: spy, selector: end.selector, encoding: "v^v*", skipping: 1),
      try MessageCallback(to: spy, selector: text.selector, encoding: "v^v^ci", skipping: 1),
    ]
    try functions.call("SetElementHandler", parser, doors[0].address, doors[1].address)
    try functions.call("SetCharacterDataHandler", parser, doors[2].address)
    let document = "<a><b>hello</b><c/></a>"
    let parsed = try functions.call(
      "Parse", parser, document, Int32(document.utf8.count), Int32(1), returning: Int32.self)
    #expect(parsed == 1)
    #expect(spy[start].received == ["a", "b", "c"])
    #expect(spy[end].received == ["b", "c", "a"])
    #expect(spy[said].received == ["hello"])
    verifyInOrder {
      spy[start].with("b")
      spy[said].with("hello")
      spy[end].with("b")
      spy[start].with("c")
    }
    try functions.call("ParserFree", parser)
    withExtendedLifetime(doors) {}
  }
}
