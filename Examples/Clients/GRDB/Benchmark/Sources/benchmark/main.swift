// SPDX-License-Identifier: Apache-2.0
// The time of a changed row with a number of observers, in nanoseconds, by GRDB's public API. Each
// row of the output is the best of many rounds. With an argument, only the row of
// that name, or the rows of that group: `benchmark row`.
//   row/N        one statement changes 1,000 rows; each of N observers is told of each
//   statement/N  each of 1,000 statements changes one row; each of N observers is told of it
//   tables/N     the same, while the statements change two tables in turn, and each of N observers
//                observes one of them
//   saved/N      a statement in a savepoint changes 1,000 rows; N observers are told at its end
//   commit/N     a transaction that changes one row, with N observers
import GRDB

final class Counter: TransactionObserver {
  let table: String?
  var changes = 0
  var commits = 0
  init(_ table: String?) { self.table = table }

  func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
    table == nil || eventKind.tableName == table
  }
  func databaseDidChange(with event: DatabaseEvent) { changes += 1 }
  func databaseDidCommit(_ db: Database) { commits += 1 }
  func databaseDidRollback(_ db: Database) {}
}

let count = 1000
let clock = ContinuousClock()

func database() throws -> DatabaseQueue {
  let queue = try DatabaseQueue()
  try queue.write { db in
    for table in ["one", "two"] {
      try db.execute(sql: "CREATE TABLE \(table) (id INTEGER PRIMARY KEY, value INTEGER)")
      for id in 1...count {
        try db.execute(sql: "INSERT INTO \(table) VALUES (?, 0)", arguments: [id])
      }
    }
  }
  return queue
}

/// Prints the least time that one of `operations` takes.
func row(
  _ name: String, _ operations: Int, rounds: Int, observers: [Counter], expect changes: Int,
  _ body: (Database) throws -> Void
) throws {
  if let wanted = CommandLine.arguments.dropFirst().first, name != wanted,
    !name.hasPrefix(wanted + "/")
  {
    return
  }
  let queue = try database()
  for observer in observers { queue.add(transactionObserver: observer) }
  var least = Double.infinity
  for _ in 0..<rounds {
    for observer in observers { observer.changes = 0 }
    let time = try queue.writeWithoutTransaction { db in try clock.measure { try body(db) } }
    let nanoseconds =
      Double(time.components.attoseconds) / 1e9 + Double(time.components.seconds) * 1e9
    least = min(least, nanoseconds / Double(operations))
    let seen = observers.map(\.changes).reduce(0, +)
    precondition(seen == changes, "\(name): \(seen) changes were observed instead of \(changes)")
  }
  print("row", name, least)
}

for number in [0, 1, 4, 16] {
  func observers() -> [Counter] { (0..<number).map { _ in Counter(nil) } }
  try row("row/\(number)", count, rounds: 150, observers: observers(), expect: count * number) {
    db in
    try db.inTransaction {
      try db.cachedStatement(sql: "UPDATE one SET value = value + 1").execute()
      return .commit
    }
  }
  try row(
    "statement/\(number)", count, rounds: 100, observers: observers(), expect: count * number
  ) { db in
    try db.inTransaction {
      let statement = try db.cachedStatement(sql: "UPDATE one SET value = value + 1 WHERE id = ?")
      for id in 1...count { try statement.execute(arguments: [id]) }
      return .commit
    }
  }
}
for number in [1, 4, 16] {
  let some = (0..<number).map { Counter($0.isMultiple(of: 2) ? "one" : "two") }
  try row("tables/\(number)", count, rounds: 100, observers: some, expect: count / 2 * number) {
    db in
    try db.inTransaction {
      let one = try db.cachedStatement(sql: "UPDATE one SET value = value + 1 WHERE id = ?")
      let two = try db.cachedStatement(sql: "UPDATE two SET value = value + 1 WHERE id = ?")
      for id in 1...count { try (id.isMultiple(of: 2) ? one : two).execute(arguments: [id]) }
      return .commit
    }
  }
}
for number in [1, 16] {
  let all = (0..<number).map { _ in Counter(nil) }
  try row("saved/\(number)", count, rounds: 60, observers: all, expect: count * number) { db in
    try db.inTransaction {
      try db.inSavepoint {
        try db.cachedStatement(sql: "UPDATE one SET value = value + 1").execute()
        return .commit
      }
      return .commit
    }
  }
  try row("commit/\(number)", 100, rounds: 60, observers: all, expect: 100 * number) { db in
    let statement = try db.cachedStatement(sql: "UPDATE one SET value = value + 1 WHERE id = 1")
    for _ in 0..<100 {
      try db.inTransaction {
        try statement.execute()
        return .commit
      }
    }
  }
}
