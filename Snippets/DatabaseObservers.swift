// SPDX-License-Identifier: Apache-2.0
// SQLite has one slot for its update hook. A native entry point leads from the hook to a proxy, and
// so to several weak Swift observers. Needs libsqlite3 (apt-get install libsqlite3-0), which is
// loaded here and is no dependency of the package.
import Forwarding
import Invocations

final class Observer: MethodDeclaring {
  let name: String
  init(_ name: String) { self.name = name }

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("operation:database:table:row:") {
      (observer: Observer, operation: Int32, _: String, table: String, row: Int64) in
      let verb = [18: "inserted", 23: "updated", 9: "deleted"][operation] ?? "changed"
      print("\(observer.name): \(verb) row \(row) of \(table)")
    }
  }
}

let sqlite = try Library("libsqlite3.so.0")
let functions = FunctionTable()
for (name, encoding) in [
  ("open", "i*^^v"), ("exec", "i^v*^v^v^v"), ("update_hook", "^v^v^?^v"), ("close", "i^v"),
] {
  try unsafe functions.register(
    name, encoding: encoding, unsafeSymbolIn: sqlite, symbol: "sqlite3_" + name)
}

var database: UnsafeMutableRawPointer?
let opened = try withUnsafeMutablePointer(to: &database) {
  try functions.call("open", ":memory:", $0, returning: Int32.self)
}
precondition(opened == 0, "an in-memory database needs nothing")

let observers = MulticastProxy()
let cache = Observer("cache")
var view: Observer? = Observer("view")
observers.add(cache)
observers.add(view!)

// void hook(void *context, int operation, char const *database, char const *table, sqlite3_int64)
let door = try Callback(
  to: observers, selector: "operation:database:table:row:", encoding: "v^vi**q", skipping: 1)
let nothing = nil as UnsafeRawPointer?
try functions.call("update_hook", database, door.address, nothing)

@MainActor func run(_ sql: String) throws {
  try functions.call("exec", database, sql, nothing, nothing, nothing)
}
try run("create table notes (text); insert into notes values ('one')")  // cache and view
view = nil
try run("update notes set text = 'two'; delete from notes where rowid = 1")  // cache alone
try functions.call("close", database)
withExtendedLifetime(door) {}
