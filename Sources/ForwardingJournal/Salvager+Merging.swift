// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

// Merging pieces.
extension Salvager {
  /// Copies the calls of all pieces in the order of their numbers.
  func merge(into copy: JournalCopy) throws(JournalError) {
    var waiting = SalvageQueue(pieces.map { ($0.key, .piece($0)) })
    while let (_, next) = waiting.takeLeast() {
      var cursor: SalvageCursor
      switch next {
      case .piece(let piece): cursor = SalvageCursor(piece, try window(of: piece.source))
      case .cursor(let open):
        cursor = open
        if let call = cursor.call { try save(call.header, at: call.offset, of: cursor, to: copy) }
      }
      if try advance(&cursor), let key = cursor.key { waiting.add(key, .cursor(cursor)) }
    }
  }

  /// Moves a cursor to its next call. Returns false after the last one.
  private func advance(_ cursor: inout SalvageCursor) throws(JournalError) -> Bool {
    do throws(JournalError) { try cursor.advance() } catch {
      guard case .system(_, _, let code) = error else { throw error }
      // The rest was readable a moment ago.
      lose(cursor.piece.source, cursor.position, cursor.piece.end, .unreadable(code: code))
    }
    return cursor.call != nil
  }

  private func save(
    _ header: RecordHeader, at offset: Int, of cursor: SalvageCursor, to copy: JournalCopy
  ) throws(JournalError) {
    let index = cursor.piece.source
    let source = sources[index]
    let end = offset + header.length
    let start = offset + JournalFormat.recordSize
    let isMark = header.kind == RecordKind.mark.rawValue
    guard header.sequence >= next else {
      if !isMark { lose(index, offset, end, .repeated) }
      return
    }
    if isMark {
      // The sequence numbers before it were removed by a compaction.
      expected = header.sequence + 1
      return
    }
    guard let definition = source.definition(of: header.message, before: offset) else {
      return lose(index, offset, end, .undefined(message: header.message))
    }
    do throws(JournalError) {
      // Another cursor may have loaded other bytes of the file meanwhile.
      guard try cursor.window.load(header.length, at: offset) else {
        return lose(index, offset, end, .damaged)
      }
    } catch {
      guard case .system(_, _, let code) = error else { throw error }
      return lose(index, offset, end, .unreadable(code: code))
    }
    let contents: [UInt8]
    do throws(WireError) {
      contents = try cursor.window.read(end - start, at: start) { (reader) throws(WireError) in
        try reader.bytes(reader.left)
      }
    } catch {
      return lose(index, offset, end, .damaged)
    }
    try copy.append(header, definition, contents)
    report.saved += 1
    if let expected, header.sequence > expected, source.header?.isCompacted != true {
      report.missing.append(expected...header.sequence - 1)
    }
    next = header.sequence + 1
    expected = next
  }
}
