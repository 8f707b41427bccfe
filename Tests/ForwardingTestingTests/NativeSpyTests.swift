// SPDX-License-Identifier: Apache-2.0
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

  @Test(
    "the rows and changes that SQLite reports are recorded",
    .enabled(if: has("libsqlite3.so.0"), "needs libsqlite3-0"))
  func sqlite() throws {
    let library = try Library("libsqlite3.so.0")
    let encodings = [
      "open": "i*^^v", "exec": "i^v*^?^v^v", "update_hook": "^v^v^?^v", "close": "i^v",
    ]
    for (name, encoding) in encodings {
      try unsafe functions.register(
        name, encoding: encoding, unsafeSymbolIn: library, symbol: "sqlite3_" + name)
    }
    var database: UnsafeMutableRawPointer?
    let opened = try withUnsafeMutablePointer(to: &database) {
      try functions.call("open", ":memory:", $0, returning: Int32.self)
    }
    #expect(opened == 0)
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
    #expect(spy[row].unchecked.received.map(\.0) == [2, 2])
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
}
