// SPDX-License-Identifier: Apache-2.0
// DelegateAndDataSource with protocols in place of selectors: optional requirements are
// `@Optional`, and requirements with results have a default.
import Forwarding

#if Macros
  @Forwardable
  protocol TableDelegate: AnyObject {
    @Optional func table(_ table: Table, didSelectRow row: Int)
    @Optional func tableDidScroll(_ table: Table)
  }

  @Forwardable
  protocol TableDataSource: AnyObject {
    @Otherwise(0) var numberOfRows: Int { get }
  }

  final class Table {
    let delegates = Multicast<TableDelegateProxy>()
    let dataSource = DataSource<TableDataSourceProxy>()

    func select(_ row: Int) { delegates.proxy.table(self, didSelectRow: row) }
    var rows: Int { dataSource.proxy.numberOfRows }
  }

  final class Screen: TableDelegate {
    let name: String
    init(_ name: String) { self.name = name }
    func table(_ table: Table, didSelectRow row: Int) { print("\(name): row \(row)") }
  }

  final class ScrollingScreen: TableDelegate {
    let name: String
    init(_ name: String) { self.name = name }
    func table(_ table: Table, didSelectRow row: Int) { print("\(name): row \(row)") }
    func tableDidScroll(_ table: Table) { print("\(name) scrolled") }
  }

  final class Rows: TableDataSource {
    let numberOfRows = 42
  }

  let table = Table()
  let list = Screen("list")
  var detail: ScrollingScreen? = ScrollingScreen("detail")
  let registration = table.delegates.add(list)
  table.delegates.add(detail!)

  table.select(3)  // list: row 3, then detail: row 3

  // Optional: only the delegates that implement it are called.
  table.delegates.proxy.tableDidScroll(table)  // detail scrolled
  let report = try table.delegates.messages.tableDidScroll.report(table)  // detail scrolled
  print(report.entries.map(\.outcome.isAnswer))  // [false, true]

  // Registrations end by token, and when the delegate is deallocated.
  table.delegates.remove(registration)
  detail = nil
  table.select(4)  // no delegate is left, and nothing happens
  print(table.delegates.count)  // 0

  // A data source returns values: exactly one answers, or the protocol does.
  print(table.rows)  // 0
  let rows = Rows()
  table.dataSource.add(rows)
  print(table.rows)  // 42
#endif
