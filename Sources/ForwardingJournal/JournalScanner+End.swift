import ForwardingWire

// The place where no record begins: the end of the file, a torn record, or damage.
extension JournalScanner {
  /// How far bytes behind an offset were searched for whole records, none of which began there.
  struct Searched {
    var offset = 0
    var next: UInt64 = 0
    var end = 0
  }

  /// Tells the end of the file from a torn record, and both from damage in front of others.
  func end() throws(JournalError) -> JournalFrame? {
    let left = window.size - offset
    if left <= 0 {
      tail = .whole
      return nil
    }
    // The record may be half written when it is read, and whole by now.
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

  /// Where a whole record begins that could follow, from a place on.
  ///
  /// What is inside of a record is passed over as long as headers are whole, whatever it looks like: a write that
  /// did not come to its end leaves a header that tells how long it would be, and its contents may be a journal.
  /// Without a header, each byte may begin a record. Checksums of more than 64 MB are not tried: what the rest is
  /// cannot be told then, and nothing may be cut.
  func nextWhole(from start: Int) throws(JournalError) -> Int? {
    var position = start
    while let torn = try window.headerAlone(at: position) {
      if position > offset, try wholeHeader(at: position) != nil { return position }
      position += torn.length
    }
    if position == offset { position += 1 }
    // A reader that follows comes here each time it asks for more.
    if start == offset, searched.offset == offset, searched.next == next {
      position = max(position, searched.end)
    }
    var budget = 64 << 20
    var tried: Int?
    while let found = try window.nextHeader(from: &position) {
      defer { position += 1 }
      guard found.sequence >= next, found.sequence - next < 1 << 40 else { continue }
      budget -= found.length
      if budget < 0 { throw .damaged(offset: offset, resumes: nil) }
      if try wholeHeader(at: position) != nil { return position }
      // The rest of it may be written yet.
      if tried == nil { tried = position }
    }
    if start > offset { return nil }
    searched = Searched(
      offset: offset, next: next,
      end: tried ?? max(offset, window.size - 2 * JournalFormat.recordSize))
    return nil
  }
}
