// SPDX-License-Identifier: Apache-2.0
/// Finds whole records in a file that is damaged or partly unreadable.
final class RecordFinder {
  private let window: JournalWindow
  private let size: Int
  /// The bytes of candidates that may still be checksummed. Headers that overlap each other could
  /// otherwise have the same bytes checksummed again and again.
  private var budget: Int

  /// The result of looking at an offset.
  enum Found {
    case record(RecordHeader)
    /// No whole record up to this offset.
    case nothing(end: Int)
    /// Unreadable bytes up to this offset.
    case unreadable(end: Int, code: Int32)
  }

  private static let page = 4096

  /// Begins at a size that the file has had. Bytes behind it are not looked at.
  init(_ window: JournalWindow, size: Int) {
    (self.window, self.size) = (window, size)
    budget = max(64 << 20, 4 * size)
  }

  /// Looks at an offset. If no record begins there, the next one must have at least the sequence
  /// number `next`, because the contents of a damaged record may look like a record.
  func look(at offset: Int, next: UInt64) -> Found {
    var position = offset
    do throws(JournalError) {
      if let header = try window.headerAlone(at: offset) {
        position = offset + header.length
        if try window.isWhole(header, at: offset) { return .record(header) }
        // If only the contents are damaged, the length can be trusted, unless the header belongs to
        // another place.
        return .nothing(end: crossing(header, position, from: offset + 1, next: next) ?? position)
      }
      position += 1
      while let header = try window.nextHeader(from: &position) {
        if header.sequence >= next, header.sequence - next < 1 << 40,
          (try? isWhole(header, at: position)) != false
        {
          return .nothing(end: position)
        }
        if budget < 0 { return .nothing(end: size) }
        position += 1
      }
      return .nothing(end: size)
    } catch {
      guard case .system(_, _, let code) = error else { return .nothing(end: size) }
      return unreadable(from: offset, to: position, code)
    }
  }

  /// Whether a candidate is a whole record; false once the budget is used up.
  private func isWhole(_ header: RecordHeader, at offset: Int) throws(JournalError) -> Bool {
    if budget < 0 { return false }
    budget -= header.length
    return budget < 0 ? false : try window.isWhole(header, at: offset)
  }

  /// Returns the start of a chain of adjacent whole records that extends beyond `end`, the end that
  /// a header claims, or whose numbers the record at `end` continues. Such records are not the
  /// contents of that header's record, whatever those look like. The disk may have misplaced the
  /// header.
  private func crossing(
    _ claiming: RecordHeader, _ end: Int, from start: Int, next: UInt64
  ) -> Int? {
    var position = start
    while end < size, let found = try? window.nextHeader(from: &position), position < end {
      var (stop, last) = (position, found.sequence)
      if found.sequence >= next, found.sequence - next < 1 << 40 {
        while stop < end, let header = try? window.headerAlone(at: stop),
          (try? isWhole(header, at: stop)) == true
        {
          stop += header.length
          last = header.sequence
        }
      }
      if stop > end { return position }
      if stop == end, last != claiming.sequence, let behind = try? window.headerAlone(at: end),
        behind.sequence == last &+ 1, (try? isWhole(behind, at: end)) == true
      {
        return position
      }
      position = max(stop, position + 1)
    }
    return nil
  }

  /// Finds the unreadable pages, beginning with the one at `position` or shortly after it.
  private func unreadable(from offset: Int, to position: Int, _ code: Int32) -> Found {
    // A record with a readable header that extends beyond the search is lost as a whole.
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
