// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal
import Foundation

/// `forward journal --salvage OUT`: copies each call of a damaged journal that can be read to a new
/// journal, with its time, and lists what is left out.
enum SalvageCommand {
  static func run(_ path: String, to output: String, isJSON: Bool) throws -> ExitCode {
    let reader = try JournalReader(at: path)
    if unsafe access(output, F_OK) == 0 {
      throw JournalError.system("created", path: output, code: EEXIST)
    }
    let journal = try Journal(at: output, interface: Interface("salvage"))
    var found = Found()
    while true {
      if let record = try? reader.next() {
        found.note(record)
        try journal.copy(record)
        continue
      }
      guard let skipped = try reader.skipDamage() else { break }
      found.note(skipped)
    }
    if reader.offset < reader.size {
      found.note(SkippedBytes(path: reader.path, bytes: reader.offset..<reader.size))
    }
    try journal.close()
    Terminal.out(isJSON ? found.json : found.text(output))
    return .ok
  }

  /// The calls that were read, and what was not.
  private struct Found {
    private var saved = 0
    private var next: UInt64?
    private var missing: [ClosedRange<UInt64>] = []
    private var skipped: [SkippedBytes] = []

    mutating func note(_ record: JournalRecord) {
      if let next, record.sequence > next { missing.append(next...record.sequence - 1) }
      next = record.sequence + 1
      saved += 1
    }

    /// Adjacent bytes become one range.
    mutating func note(_ more: SkippedBytes) {
      if let last = skipped.last, last.path == more.path,
        last.bytes.upperBound == more.bytes.lowerBound, !last.bytes.isEmpty
      {
        skipped[skipped.count - 1] = SkippedBytes(
          path: more.path, bytes: last.bytes.lowerBound..<more.bytes.upperBound)
      } else if !more.bytes.isEmpty {
        skipped.append(more)
      }
    }

    func text(_ output: String) -> String {
      var lines = ["\(saved) call\(saved == 1 ? "" : "s") in \(output.visible)"]
      if skipped.isEmpty, missing.isEmpty {
        lines.append(Terminal.styled("nothing was left out", .green))
      }
      lines += skipped.map { Terminal.styled("left out", .yellow) + "  \($0)" }
      lines += missing.map {
        let numbers =
          $0.count == 1 ? "call \($0.lowerBound)" : "calls \($0.lowerBound) to \($0.upperBound)"
        return Terminal.styled("missing", .yellow) + "   \(numbers)"
      }
      return lines.joined(separator: "\n")
    }

    var json: String {
      let skipped = skipped.map {
        "{\"path\":\($0.path.quoted),\"offset\":\($0.bytes.lowerBound)"
          + ",\"bytes\":\($0.bytes.count)}"
      }
      let missing = missing.map { "[\($0.lowerBound),\($0.upperBound)]" }
      return "{\"saved\":\(saved),\"skipped\":[\(skipped.joined(separator: ","))]"
        + ",\"missing\":[\(missing.joined(separator: ","))]}"
    }
  }
}
