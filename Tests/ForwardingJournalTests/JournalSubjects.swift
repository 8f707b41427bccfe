// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import Foundation
import Invocations

/// An account whose calls are recorded. Its state depends on all calls and their order.
final class Ledger: @unchecked Sendable, Equatable {
  var balance: Int64 = 0
  var names: [String] = []
  var hash: UInt64 = 0

  struct Overdrawn: Error {}

  static func == (one: Ledger, other: Ledger) -> Bool {
    one.balance == other.balance && one.names == other.names && one.hash == other.hash
  }

  func book(_ amount: Int64, _ factor: Double, _ isBooked: Bool) {
    balance &+= amount
    hash = (hash &* 31) ^ UInt64(bitPattern: amount) ^ factor.bitPattern ^ (isBooked ? 1 : 0)
  }

  static let add = try! Message<NoResult, Int64, Double, Bool>("add:times:booked:")
  static let rename = try! Message<NoResult, String>("rename:")
  static let withdraw = try! Message<Int64, Int64>("withdraw:")

  static func prepare() throws {
    let table = MethodTable.of(Ledger.self)
    try table.register("add:times:booked:", replacing: true) {
      (self: Ledger, a: Int64, b: Double, c: Bool) in self.book(a, b, c)
    }
    try table.register("rename:", replacing: true) { (self: Ledger, name: String) in
      self.names.append(name)
    }
    try table.register("withdraw:", replacing: true) { (self: Ledger, amount: Int64) -> Int64 in
      if amount > self.balance { throw Overdrawn() }
      self.balance -= amount
      return self.balance
    }
  }

  static func interface() throws -> Interface {
    try prepare()
    var interface = Interface("ledger")
    try interface.allow(add)
    try interface.allow(rename)
    try interface.allow(withdraw)
    return interface
  }
}

/// A folder for one test.
final class Folder {
  let path: String

  init() throws {
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("forwarding-journal-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var journal: String { path + "/a.journal" }

  func bytes(_ name: String = "a.journal") throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")))
  }

  func write(_ bytes: [UInt8], _ name: String = "a.journal") throws {
    try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
  }
}
