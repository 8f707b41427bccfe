// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

/// Adjacent whole records of a damaged file, with calls in the order of their numbers.
///
/// A healthy file is one piece. Damage, and records that a disk has put elsewhere, begin another.
struct SalvagePiece {
  /// The index of the file.
  let source: Int
  /// The offset of the first record, and of the end of the last one.
  let start: Int
  var end: Int
  /// The number of the first call, and of the last one.
  let first: UInt64
  var last: UInt64

  /// The place of the first call in the new journal.
  var key: SalvageKey { SalvageKey(number: first, source: source, offset: start) }
}

/// Calls are copied in the order of their numbers; those with the same one in the order of their
/// places.
struct SalvageKey: Comparable {
  let number: UInt64
  let source: Int
  let offset: Int

  static func < (one: SalvageKey, other: SalvageKey) -> Bool {
    (one.number, one.source, one.offset) < (other.number, other.source, other.offset)
  }
}

/// The pieces that have more calls, as a binary heap: a damaged file may have very many.
struct SalvageQueue {
  enum Entry {
    case piece(SalvagePiece)
    case cursor(SalvageCursor)
  }

  private var entries: [(key: SalvageKey, entry: Entry)]

  // An array in ascending order is a heap.
  init(_ entries: [(key: SalvageKey, entry: Entry)]) {
    self.entries = entries.sorted { $0.key < $1.key }
  }

  mutating func add(_ key: SalvageKey, _ entry: Entry) {
    entries.append((key, entry))
    var place = entries.count - 1
    while place > 0, entries[place].key < entries[(place - 1) / 2].key {
      entries.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  mutating func takeLeast() -> (key: SalvageKey, entry: Entry)? {
    guard !entries.isEmpty else { return nil }
    entries.swapAt(0, entries.count - 1)
    let least = entries.removeLast()
    var place = 0
    while true {
      var child = 2 * place + 1
      if child + 1 < entries.count, entries[child + 1].key < entries[child].key { child += 1 }
      guard child < entries.count, entries[child].key < entries[place].key else { return least }
      entries.swapAt(place, child)
      place = child
    }
  }
}

/// Reads the calls of a piece.
struct SalvageCursor {
  let piece: SalvagePiece
  /// The header of the call, and its offset; nil after the last one.
  private(set) var call: (header: RecordHeader, offset: Int)?
  /// The file, which stays open while the piece is read.
  let window: JournalWindow
  /// The offset of the next record.
  private(set) var position: Int

  /// Begins in front of the first call.
  init(_ piece: SalvagePiece, _ window: JournalWindow) {
    (self.piece, self.window) = (piece, window)
    position = piece.start
  }

  /// The place of the call in the new journal; nil after the last one.
  var key: SalvageKey? {
    call.map { SalvageKey(number: $0.header.sequence, source: piece.source, offset: $0.offset) }
  }

  /// Moves to the next call or mark.
  mutating func advance() throws(JournalError) {
    call = nil
    while position < piece.end, let header = try window.headerAlone(at: position) {
      let offset = position
      switch RecordKind(rawValue: header.kind) {
      case .call, .outcome, .mark: call = (header, offset)
      case .definition, nil: break
      }
      position += header.length
      if call != nil { return }
    }
  }
}

/// The sequence numbers that a search for the next record of a file accepts.
struct ExpectedNumbers {
  /// The number after that of the last call.
  private(set) var next: UInt64
  /// The number that was expected before the calls went on with another one, and where they did.
  private var gap: (expected: UInt64, offset: Int)?

  /// The most bytes that a disk puts elsewhere. The calls behind a gap may be stray ones up to here.
  private static let stray = 1 << 20

  init(next: UInt64) { self.next = next }

  /// The least number of a record that a search behind `offset` accepts.
  func least(at offset: Int) -> UInt64 {
    guard let gap, offset - gap.offset < Self.stray else { return next }
    return min(gap.expected, next)
  }

  /// Notes a call.
  mutating func meet(_ number: UInt64, at offset: Int) {
    if number != next { gap = (least(at: offset), offset) }
    next = number &+ 1
  }
}
