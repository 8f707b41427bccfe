// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

// The place where no record begins: the end of the file, a torn record, or damage.
extension JournalScanner {
  /// How far the bytes behind an offset were searched for whole records without finding one.
  struct Searched {
    var offset = 0
    var next: UInt64 = 0
    var end = 0
  }

  /// The bytes of candidates that are checksummed to tell one end from damage.
  private static var mostSearched: Int { 64 << 20 }

  /// Distinguishes the end of the file from a torn record, and both from damage before other
  /// records.
  ///
  /// - Returns: a record that was completed meanwhile; otherwise nil, after setting `tail`.
  func end() throws(JournalError) -> JournalFrame? {
    let left = try window.size - offset
    searchBudget = Self.mostSearched
    if left <= 0 {
      tail = .whole
      return nil
    }
    // A record that was half written when it was read may be complete by now.
    if try isWholeByNow { return try nextFrame() }
    if try isAtRoom {
      tail = .whole
      return nil
    }
    if let resumes = try nextWhole(from: offset) {
      if try isWholeByNow { return try nextFrame() }
      guard try isTornGroup(resuming: resumes) else {
        throw .damaged(offset: offset, resumes: resumes)
      }
    }
    tail = .torn(offset: offset, bytes: left)
    return nil
  }

  private var isWholeByNow: Bool {
    get throws(JournalError) {
      window.forget()
      return try wholeHeader(at: offset) != nil
    }
  }

  /// Returns the offset of the next whole record that could follow, from `start` on; otherwise
  /// nil.
  ///
  /// As long as headers are whole, the contents of records are skipped, whatever they look like: an
  /// interrupted write leaves a header with the intended length, and its contents may be a journal
  /// themselves. Without a header, every byte may begin a record.
  ///
  /// - Throws: ``JournalError/damaged(offset:resumes:)`` once candidates of more than 64 MB have
  ///   been checksummed for one end. The rest is unknown then, so nothing may be cut.
  func nextWhole(from start: Int) throws(JournalError) -> Int? {
    var position = start
    while let torn = try window.headerAlone(at: position) {
      if position > offset, try wholeHeader(at: position) != nil { return position }
      position += torn.length
    }
    if position == offset { position += 1 }
    // A reader that follows the file searches again each time it asks for more.
    if start == offset, searched.offset == offset, searched.next == next {
      position = max(position, searched.end)
    }
    var tried: Int?
    while let found = try window.nextHeader(from: &position) {
      defer { position += 1 }
      guard found.sequence >= next, found.sequence - next < 1 << 40 else { continue }
      searchBudget -= found.length
      if searchBudget < 0 { throw .damaged(offset: offset, resumes: nil) }
      if try wholeHeader(at: position) != nil { return position }
      // The rest of this candidate may still be written.
      if tried == nil { tried = position }
    }
    if start > offset { return nil }
    let last = try max(offset, window.size - 2 * JournalFormat.recordSize)
    searched = Searched(offset: offset, next: next, end: tried ?? last)
    return nil
  }
}
