// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingJournal
import Foundation
import Invocations

/// An account whose calls are recorded. Its state depends on all calls and their order.
final class Ledger: MethodDeclaring, @unchecked Sendable, Equatable {
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

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("add:times:booked:") { (self: Ledger, a: Int64, b: Double, c: Bool) in
      self.book(a, b, c)
    }
    methods.register("rename:") { (self: Ledger, name: String) in self.names.append(name) }
    methods.register("withdraw:") { (self: Ledger, amount: Int64) -> Int64 in
      if amount > self.balance { throw Overdrawn() }
      self.balance -= amount
      return self.balance
    }
    methods.register("slowly:") { (self: Ledger, name: String) in
      await Task.yield()
      if name != "a" { withUnsafeCurrentTask { $0?.cancel() } }
      if name == "fail" { throw Overdrawn() }
      self.names.append(name)
    }
  }

  static func interface() throws -> Interface {
    var interface = Interface("ledger")
    try interface.allow(add)
    try interface.allow(rename)
    try interface.allow(withdraw)
    return interface
  }

  /// Sends the call with a number: one of two messages.
  @Sendable
  static func send(_ number: UInt64, to target: AnyObject) throws {
    if number % 16 == 0 {
      try rename("name \(number)", on: target)
    } else {
      try add(Int64(number), Double(number) / 7, number % 3 == 0, on: target)
    }
  }
}

/// A folder for one test.
final class Folder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "/forwarding-journal-\(UUID().uuidString)"
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

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: "\(path)/\(name)")
  }

  /// The name of a rotated file.
  static func rotated(_ first: Int) -> String { "a.journal." + String(format: "%012d", first) }

  /// The files, without the folder.
  var files: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  }

  /// The journal of a ledger in this folder.
  func open(
    to target: AnyObject? = nil, strongly: Bool = true, sync: JournalOptions.Sync = .never,
    rotation: Int? = nil, rotatedFiles: Int? = nil
  ) throws -> Journal {
    var options = JournalOptions()
    (options.sync, options.rotation, options.rotatedFiles) = (sync, rotation, rotatedFiles)
    return try Journal(
      at: journal, interface: Ledger.interface(), to: target, strongly: strongly, options)
  }

  /// Writes calls named by their numbers, and rotates the file after some of them. Returns the
  /// offset of each record in its file, and the end of the last one.
  @discardableResult
  func write(_ numbers: ClosedRange<Int>, rotatedAfter rotated: Int = .max) throws -> [Int] {
    let journal = try open()
    for number in numbers {
      try Ledger.rename("\(number)", on: journal)
      if number % rotated == 0 { try journal.rotate() }
    }
    try journal.close()
    let reader = try reader()
    var starts: [Int] = []
    while let record = try reader.next() { starts.append(record.offset) }
    return starts + [reader.offset]
  }

  func reader() throws -> JournalReader { try JournalReader(at: journal) }

  /// A ledger after all calls.
  func replayed() throws -> Ledger {
    let ledger = Ledger()
    try reader().replay(Ledger.interface(), into: ledger)
    return ledger
  }
}

/// All that a reader gives: the records, and the parts that it steps over.
struct Reading {
  /// The first error, and the number of records before it.
  private(set) var failure: JournalError?
  private(set) var before = 0
  private(set) var numbers: [UInt64] = []
  private(set) var skipped: [SkippedBytes] = []
  /// The bytes of both, if there is one file.
  private(set) var covered = 0

  init(_ reader: JournalReader) throws {
    while true {
      let start = reader.offset
      do {
        if let record = try reader.next() {
          numbers.append(record.sequence)
          covered += reader.offset - start
          continue
        }
      } catch  where failure == nil { (failure, before) = (error, numbers.count) } catch {}
      guard let part = try reader.skipDamage() else { return }
      skipped.append(part)
      covered += part.bytes.count
    }
  }
}
