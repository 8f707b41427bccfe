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
  /// The definitions in front of the piece.
  let definitions: [UInt16: Definition]
}

/// Reads the calls of a piece.
struct SalvageCursor {
  let piece: SalvagePiece
  /// The definitions in front of the call.
  private(set) var definitions: [UInt16: Definition]
  /// The header of the call, and its offset; nil after the last one.
  private(set) var call: (header: RecordHeader, offset: Int)?
  private let window: JournalWindow
  /// The offset of the next record.
  private(set) var position: Int

  /// Begins in front of the first call.
  init(_ piece: SalvagePiece, _ window: JournalWindow) {
    (self.piece, self.window) = (piece, window)
    definitions = piece.definitions
    position = piece.start
  }

  /// Whether the call comes before that of another cursor: it has a smaller number, or the same one
  /// in an earlier place.
  func comes(before other: SalvageCursor) -> Bool {
    guard let call, let next = other.call else { return call != nil }
    return (call.header.sequence, piece.source, call.offset)
      < (next.header.sequence, other.piece.source, next.offset)
  }

  /// Moves to the next call or mark.
  mutating func advance() throws(JournalError) {
    call = nil
    while position < piece.end, let header = try window.headerAlone(at: position) {
      let offset = position
      switch RecordKind(rawValue: header.kind) {
      case .definition: try define(header, at: offset)
      case .call, .outcome, .mark: call = (header, offset)
      case nil: break
      }
      position += header.length
      if call != nil { return }
    }
  }

  private mutating func define(
    _ header: RecordHeader, at offset: Int
  ) throws(JournalError) {
    guard try window.load(header.length, at: offset) else { return }
    let start = offset + JournalFormat.recordSize
    let definition = try? window.read(header.length - JournalFormat.recordSize, at: start) {
      (reader) throws(WireError) in try Definition(from: &reader)
    }
    // The first reading has noted the loss of a definition that cannot be decoded.
    if let definition { definitions[header.message] = definition }
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
