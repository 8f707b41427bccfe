// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import Foundation

/// `forward journal`: prints the calls of a journal, without the Swift types of its writer.
enum JournalCommand {
  static func run(_ options: Options) throws -> ExitCode {
    guard let path = options.positional.first, options.positional.count == 1 else {
      throw options.fault("journal needs one file, as in: forward journal bank.journal")
    }
    let isChecking = options.flags.contains("--check")
    let isFollowing = options.flags.contains("--follow")
    if isChecking, isFollowing {
      throw options.fault("--check and --follow exclude each other: remove one")
    }
    let outputs = options.values["--salvage"] ?? []
    if outputs.count > 1 || (!outputs.isEmpty && (isChecking || isFollowing)) {
      throw options.fault("--salvage excludes --check, --follow and another --salvage")
    }
    do {
      if let output = outputs.first {
        return try SalvageCommand.run(path, to: output, isJSON: options.isJSON)
      }
      var listing = try Listing(path, isJSON: options.isJSON, isQuiet: isChecking)
      try listing.readAll()
      if isFollowing {
        try listing.follow()
        return .ok
      }
      return listing.conclude()
    } catch let error as JournalError {
      return failed(error, path, options)
    }
  }

  private static func failed(
    _ error: JournalError, _ path: String, _ options: Options
  ) -> ExitCode {
    _ = fflush(nil)
    if options.isJSON { Terminal.out("{\"error\":\("\(error)".quoted)}") }
    Terminal.error("forward: \(error)")
    if case .damaged = error {
      Terminal.error("Copy what can be read: forward journal --salvage NEW \(path.visible)")
    }
    if case .system = error { return .failed }
    return .badData
  }
}

/// Prints the records of a journal.
private struct Listing {
  private let isJSON: Bool
  private let isQuiet: Bool
  private let reader: JournalReader
  private var types = RecordTypes()
  private var count = 0
  private var messages: [String: Int] = [:]
  private var first: JournalRecord?
  private var last: JournalRecord?
  /// The first record whose values could not be read, and the reason.
  private var unreadable: (offset: Int, reason: String)?

  init(_ path: String, isJSON: Bool, isQuiet: Bool) throws {
    (self.isJSON, self.isQuiet) = (isJSON, isQuiet)
    reader = try JournalReader(at: path)
  }

  mutating func readAll() throws {
    if !isJSON, !isQuiet {
      Terminal.out(Terminal.styled("  number  time                     call", .bold))
    }
    while let record = try reader.next() {
      show(record)
      // A failed flush means that the reader of the output is gone.
      if count % 1024 == 0, fflush(nil) != 0 { return }
    }
  }

  /// Waits for more records, until the output cannot be written any more.
  mutating func follow() throws {
    while fflush(nil) == 0 {
      usleep(50_000)
      while let record = try reader.next() { show(record) }
    }
  }

  private mutating func show(_ record: JournalRecord) {
    count += 1
    messages["\(record.interface)/\(record.selector)", default: 0] += 1
    if first == nil { first = record }
    last = record
    let values = values(of: record)
    if isQuiet { return }
    if isJSON { return Terminal.out(Self.json(record, values)) }
    let number = "\(record.sequence)"
    let padding = String(repeating: " ", count: max(0, 8 - number.count))
    let time = Terminal.styled(Self.text(ofTime: record.time), .dim)
    Terminal.out("\(padding)\(number)  \(time)  \(Self.plain(record.selector)) \(values.text)")
  }

  private struct Values {
    /// Nil if the arguments are not shown.
    var arguments: [String]?
    var text: String
  }

  private mutating func values(of record: JournalRecord) -> Values {
    do {
      let types = try self.types.types(of: record)
      let arguments = try types.arguments(record.arguments)
      return Values(arguments: arguments, text: arguments.joined(separator: ", "))
    } catch {
      // The writer had other limits, so the record is intact.
      if case .nestedTooDeeply(let limit)? = (error as? WireError)?.reason {
        return Values(text: "(not shown: it nests more than \(limit) deep)")
      }
      if unreadable == nil { unreadable = (record.offset, "\(error)") }
      return Values(text: "?")
    }
  }

  private static func json(_ record: JournalRecord, _ values: Values) -> String {
    let list = values.arguments.map { "[" + $0.joined(separator: ",") + "]" } ?? "null"
    return "{\"sequence\":\(record.sequence),\"time\":\(record.time)"
      + ",\"interface\":\(record.interface.quoted)"
      + ",\"selector\":\(record.selector.quoted)"
      + ",\"encoding\":\(record.encoding.quoted)"
      + ",\"arguments\":\(list)}"
  }

  /// Prints a summary: the number of records, and the state of the journal's end.
  func conclude() -> ExitCode {
    if isJSON {
      if reader.torn > 0 {
        Terminal.out("{\"torn\":{\"offset\":\(reader.offset),\"bytes\":\(reader.torn)}}")
      }
      if isQuiet { Terminal.out("{\"records\":\(count),\"whole\":\(isWhole)}") }
    } else if isQuiet {
      Terminal.out(summary)
    }
    if let unreadable {
      Terminal.error("forward: the record at byte \(unreadable.offset): \(unreadable.reason)")
      return .badData
    }
    if reader.torn == 0 { return .ok }
    if !isJSON {
      let what = isQuiet ? "torn" : "The last record is incomplete"
      let end = "\(reader.torn) bytes from byte \(reader.offset) on are not a whole record"
      Terminal.out(Terminal.styled("\(what): \(end)", .yellow))
    }
    return isQuiet ? .failed : .ok
  }

  private var summary: String {
    var rows = [["records", "\(count)"]]
    if let first, let last {
      rows.append(["numbers", "\(first.sequence) to \(last.sequence)"])
      rows.append(["from", Self.text(ofTime: first.time)])
      rows.append(["to", Self.text(ofTime: last.time)])
    }
    for (message, count) in messages.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
      rows.append([Self.plain(message), "\(count)"])
    }
    return Terminal.table(rows) + (isWhole ? "\n" + Terminal.styled("whole", .green) : "")
  }

  private var isWhole: Bool { reader.torn == 0 && unreadable == nil }

  /// A name from a file, with control characters escaped so that the terminal does not obey them.
  private static func plain(_ name: String) -> String {
    String(name.quoted.dropFirst().dropLast())
  }

  /// A time as text, in UTC.
  private static func text(ofTime nanoseconds: Int64) -> String {
    // A fifth of a millisecond more, because most times are no exact `Double`.
    let milliseconds = Double(nanoseconds / 1_000_000) + 0.2
    return Date(timeIntervalSince1970: milliseconds / 1000).formatted(time)
  }

  private static let time = Date.ISO8601FormatStyle(
    dateTimeSeparator: .space, includingFractionalSeconds: true
  ).year().month().day().time(includingFractionalSeconds: true)
}
