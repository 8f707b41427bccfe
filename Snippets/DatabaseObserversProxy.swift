// SPDX-License-Identifier: Apache-2.0
// SQLite has one slot for each of its hooks, for C functions. Here they lead to a Swift protocol,
// and so to several delegates, and each may refuse. Needs libsqlite3
// (apt-get install libsqlite3-0), which is loaded here and is no dependency of the package.
import Forwarding
import Invocations

#if Macros
  enum Change: Int32 { case inserted = 18, updated = 23, deleted = 9 }

  /// The action that a statement is about to take, with SQLite's number for it.
  struct Action {
    var code: Int32
    var table: String?
    var deletes: Bool { code == 9 && table?.hasPrefix("sqlite_") == false }
  }

  @Forwardable
  protocol DatabaseDelegate: AnyObject {
    func database(_ database: Database, did change: Change, row: Int64, of table: String)
    @Otherwise(true) func databaseShouldCommit(_ database: Database) -> Bool
    @Otherwise(true) func database(_ database: Database, allows action: Action) -> Bool
  }

  /// A connection, and the functions that C calls. One thread uses it at a time.
  final class Database: @unchecked Sendable {
    let delegates = Multicast<DatabaseDelegateProxy>()
    private let functions = FunctionTable()
    private var connection: UnsafeMutableRawPointer?
    private var hooks: [Callback] = []
    private let nothing = nil as UnsafeRawPointer?

    init(_ path: String, sqlite: Library) throws {
      for (name, encoding) in [
        ("open", "i*^^v"), ("exec", "i^v*^v^v^v"), ("close", "i^v"),
        ("update_hook", "^v^v^?^v"), ("commit_hook", "^v^v^?^v"), ("set_authorizer", "i^v^?^v"),
      ] {
        // SAFETY: the encodings match the declarations in sqlite3.h.
        try unsafe functions.register(
          name, encoding: encoding, unsafeSymbolIn: sqlite, symbol: "sqlite3_" + name)
      }
      let opened = try withUnsafeMutablePointer(to: &connection) {
        try functions.call("open", path, $0, returning: Int32.self)
      }
      precondition(opened == 0, "an in-memory database needs nothing")
      try hook()
    }

    deinit { _ = try? functions.call("close", connection, returning: Int32.self) }

    private func hook() throws {
      typealias Context = UnsafeRawPointer?
      typealias Text = String?
      // void (void *, int operation, char const *database, char const *table, sqlite3_int64 row)
      let updated = try unsafe Callback {
        [unowned self] (_: Context, operation: Int32, _: Text, table: Text, row: Int64) in
        guard let change = Change(rawValue: operation) else { return }
        delegates.proxy.database(self, did: change, row: row, of: table ?? "")
      }
      // int (void *): a result other than zero rolls back. All delegates are asked, and one is
      // enough to refuse.
      let committing = try unsafe Callback { [unowned self] (_: Context) -> Int32 in
        try delegates.messages.databaseShouldCommit.all(self).allSatisfy { $0 } ? 0 : 1
      }
      // int (void *, int action, char const *, char const *, char const *, char const *): 1 denies
      let authorizing = try unsafe Callback {
        [unowned self] (_: Context, code: Int32, table: Text, _: Text, _: Text, _: Text) -> Int32 in
        let action = Action(code: code, table: table)
        return try delegates.messages.databaseAllows.all(self, action).allSatisfy { $0 } ? 0 : 1
      }
      hooks = [updated, committing, authorizing]
      try functions.call("update_hook", connection, updated.address, nothing)
      try functions.call("commit_hook", connection, committing.address, nothing)
      _ = try functions.call(
        "set_authorizer", connection, authorizing.address, nothing, returning: Int32.self)
    }

    /// Whether all the statements ran.
    func run(_ sql: String) throws -> Bool {
      try functions.call(
        "exec", connection, sql, nothing, nothing, nothing, returning: Int32.self) == 0
    }
  }

  final class Cache: DatabaseDelegate {
    func database(_ database: Database, did change: Change, row: Int64, of table: String) {
      print("cache: \(change) row \(row) of \(table)")
    }
    func databaseShouldCommit(_ database: Database) -> Bool { true }
    func database(_ database: Database, allows action: Action) -> Bool { true }
  }

  /// Refuses deletions, and refuses commits while it is shut.
  final class Guardian: DatabaseDelegate {
    var isShut = false
    func database(_ database: Database, did change: Change, row: Int64, of table: String) {
      print("guardian: \(change) row \(row) of \(table)")
    }
    func databaseShouldCommit(_ database: Database) -> Bool { !isShut }
    func database(_ database: Database, allows action: Action) -> Bool { !action.deletes }
  }

  let database = try Database(":memory:", sqlite: Library("libsqlite3.so.0"))
  let cache = Cache()
  var guardian: Guardian? = Guardian()
  database.delegates.add(guardian!)
  database.delegates.add(cache)

  print(try database.run("create table notes (text)"))  // true
  print(try database.run("insert into notes values ('one')"))  // guardian, cache, true
  print(try database.run("delete from notes"))  // false: not authorized
  guardian?.isShut = true
  print(try database.run("insert into notes values ('two')"))  // the same, and false
  guardian = nil
  print(try database.run("update notes set text = 'three' where rowid = 1"))  // cache, true
  print(try database.run("delete from notes where rowid = 1"))  // cache, true
#endif
