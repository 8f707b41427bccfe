// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

// The place where no record begins: the end of the file, a torn record, or damage.
extension JournalScanner {
  /// The bytes of candidates that are checksummed to tell one end from damage.
  static var mostSearched: Int { 64 << 20 }

  /// Distinguishes the end of the file from a torn record, and both from damage before other
  /// records.
  ///
  /// - Returns: a record that was completed meanwhile; otherwise nil, after setting `tail`.
  func end() throws(JournalError) -> JournalFrame? {
    let left = try window.size - offset
    // Behind a skipped part, all searches of the file share one budget.
    if !hasSkipped { searchBudget = Self.mostSearched }
    if left <= 0 {
      tail = .whole
      return nil
    }
    // A record that was half written when it was read may be complete by now.
    if try isWholeByNow { return try nextFrame() }
    var position = offset
    if let resumes = try nextWhole(from: &position) {
      if try isWholeByNow { return try nextFrame() }
      // Behind damage, the whole rest counts as such.
      guard !hasSkipped, try isUnsynced(before: resumes) else {
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

  /// Whether the broken record here may be one that a power cut took before its caller was
  /// acknowledged. If a later record says that it was synced by then, it is damaged.
  private func isUnsynced(before place: Int) throws(JournalError) -> Bool {
    var place: Int? = place
    while var start = place, let found = try wholeHeader(at: start) {
      if found.sequence <= next || found.sequence - next > UInt64(found.unsynced) { return false }
      start += found.length
      place = try nextWhole(from: &start)
    }
    return true
  }

  /// Returns the offset of the next whole record that can follow, at or behind a position; otherwise
  /// nil. Moves the position there, or to bytes that cannot be read.
  ///
  /// As long as headers are whole and have their place here, the contents of their records are
  /// skipped, whatever they look like: an interrupted write leaves a header with the intended
  /// length, and its contents may be a journal themselves. Otherwise every byte may begin a record.
  ///
  /// - Throws: ``JournalError/damaged(offset:resumes:)`` once the budget is used up. The rest is
  ///   unknown then, so nothing may be cut.
  func nextWhole(from position: inout Int) throws(JournalError) -> Int? {
    while let torn = try window.headerAlone(at: position), canFollow(torn.sequence, at: position) {
      if position > offset, try wholeHeader(at: position) != nil { return position }
      position += torn.length
    }
    if position == offset { position += 1 }
    while let found = try window.nextHeader(from: &position) {
      if canFollow(found.sequence, at: position) {
        searchBudget -= found.length
        if searchBudget < 0 { throw .damaged(offset: offset, resumes: nil) }
        if try wholeHeader(at: position) != nil { return position }
      }
      position += 1
    }
    return nil
  }
}
