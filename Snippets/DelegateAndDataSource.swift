// SPDX-License-Identifier: Apache-2.0
// A table with a delegate and a data source: optional methods, several weak delegates, and asking
// whether *super* implements a method.
import Forwarding
import Invocations

// The messages of a table to its delegate and its data source. The optional ones may be left out.
let tableDelegate = try ProtocolDescription(
  "TableDelegate", optional: ["table:didSelectRow:": "v@:@i", "tableDidScroll:": "v@:@"])

final class Table: CallObject {
  let delegates = MulticastProxy()
  let dataSource = MulticastProxy(asksOne: true)

  static let didSelect = try! Message<NoResult, Table, Int32>("table:didSelectRow:")
  static let rowCount = try! Message<Int32>("numberOfRows")

  func select(_ row: Int32) throws { try Self.didSelect(self, row, on: delegates) }
  func rows() throws -> Int32 { try Self.rowCount(on: dataSource) }
}

class Screen {
  let name: String
  init(_ name: String) { self.name = name }
}

final class DetailScreen: Screen {}

MethodTable.of(Screen.self).adopt(tableDelegate)
try MethodTable.of(Screen.self).register("table:didSelectRow:") {
  (screen: Screen, _: Table, row: Int32) in
  print("\(screen.name): row \(row)")
}
try MethodTable.of(DetailScreen.self).register("tableDidScroll:") {
  (screen: DetailScreen, _: Table) in
  print("\(screen.name) scrolled")
}

let table = Table()
let list = Screen("list")
var detail: DetailScreen? = DetailScreen("detail")
let registration = table.delegates.add(list)
table.delegates.add(detail!)

try table.select(3)  // list: row 3, then detail: row 3

// Optional: only the delegates that implement it are called.
let scrolled = Selector("tableDidScroll:")
print(table.delegates.targets.count { Introspection.responds($0, to: scrolled) })  // 1
print(Introspection.conforms(list, to: tableDelegate))  // true

// Does *super* implement it? Ask the superclass, not the object.
let screens = MethodTable.of(DetailScreen.self)
print(screens.instancesRespond(to: scrolled))  // true
print(screens.superclass?.instancesRespond(to: scrolled) ?? false)  // false

// Registrations end by token, and when the delegate is deallocated.
table.delegates.remove(registration)
detail = nil
try table.select(4)  // no delegate is left, and nothing happens
print(table.delegates.count)  // 0

// A data source returns values: exactly one answers, or the fallback does.
let none = ClosureTarget()
try none.register("numberOfRows") { () -> Int32 in 0 }
table.dataSource.fallback = none
print(try table.rows())  // 0
let rows = ClosureTarget()
try rows.register("numberOfRows") { () -> Int32 in 42 }
table.dataSource.add(rows)
print(try table.rows())  // 42
