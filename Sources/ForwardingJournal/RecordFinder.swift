/// Finds whole records in a file that is damaged, or cannot be read everywhere.
struct RecordFinder {
  let window: JournalWindow
  let size: Int

  /// What stands at a place of a file.
  enum Found {
    case record(RecordHeader)
    /// No whole record, up to an offset.
    case nothing(end: Int)
    /// Bytes that the disk does not give back, up to an offset.
    case unreadable(end: Int, code: Int32)
  }

  private static let page = 4096

  init(_ window: JournalWindow) { (self.window, size) = (window, window.size) }

  /// Looks at an offset. Where no record begins, the next one must have at least the number `next`: what is inside of
  /// a damaged record may look like one.
  func look(at offset: Int, next: UInt64) -> Found {
    var position = offset
    do throws(JournalError) {
      if let header = try window.headerAlone(at: offset) {
        position = offset + header.length
        if try window.isWhole(header, at: offset) { return .record(header) }
        // Where its contents are damaged, its length can be believed, unless it is not the header of this place.
        return .nothing(end: crossing(position, from: offset + 1, next: next) ?? position)
      }
      position += 1
      while let header = try window.nextHeader(from: &position) {
        if header.sequence >= next, header.sequence - next < 1 << 40,
          (try? window.isWhole(header, at: position)) != false
        {
          return .nothing(end: position)
        }
        position += 1
      }
      return .nothing(end: size)
    } catch {
      guard case .system(_, _, let code) = error else { return .nothing(end: size) }
      return unreadable(from: offset, to: position, code)
    }
  }

  /// Where whole records begin, one behind the other, that go on over the end that a header tells: they are not what its
  /// record holds, whatever that looks like. The disk may have put the header there.
  private func crossing(_ end: Int, from start: Int, next: UInt64) -> Int? {
    var position = start
    while end < size, let found = try? window.nextHeader(from: &position), position < end {
      var stop = position
      if found.sequence >= next, found.sequence - next < 1 << 40 {
        while stop < end, let header = try? window.headerAlone(at: stop),
          (try? window.isWhole(header, at: stop)) == true
        {
          stop += header.length
        }
      }
      if stop > end { return position }
      position = max(stop, position + 1)
    }
    return nil
  }

  /// Finds the pages that cannot be read, one of which is at `position` or shortly behind it.
  private func unreadable(from offset: Int, to position: Int, _ code: Int32) -> Found {
    // A record whose header could be read, and which goes on behind the search, is lost as a whole.
    if position > offset + 1, (try? window.headerAlone(at: offset)) != nil {
      return .unreadable(end: position, code: code)
    }
    var begin = max(offset, position)
    if isReadable(begin) { begin = (begin / Self.page + 1) * Self.page }
    if begin > offset { return .nothing(end: begin) }
    var end = begin
    repeat { end = (end / Self.page + 1) * Self.page } while end < size && !isReadable(end)
    return .unreadable(end: end, code: code)
  }

  private func isReadable(_ offset: Int) -> Bool { (try? window.load(1, at: offset)) != nil }
}
