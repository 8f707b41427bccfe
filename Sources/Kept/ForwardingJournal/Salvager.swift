// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Foundation

/// Copies the whole calls of a journal's files to another file.
///
/// The files are read twice: first from one whole record to the next, which gives pieces with calls
/// in order, and then by merging the pieces. So a record that a disk has put in front of others
/// does not hide them, and each call is in the order of its number.
final class Salvager {
  private struct Source {
    var path: String
    var window: JournalWindow
    var header: JournalHeader?
    var size: Int
  }

  private var report = JournalSalvage()
  private var sources: [Source] = []
  private var pieces: [SalvagePiece] = []
  private var losses: [(source: Int, loss: JournalSalvage.Loss)] = []
  private var absent: [JournalSalvage.Loss] = []
  private let copy: JournalCopy
  /// The sequence number after the last copied call, and the one expected of the next call.
  private var next: UInt64 = 0
  private var expected: UInt64?

  init(_ path: String, to file: JournalFile) throws(JournalError) {
    let older = try JournalFiles.list(path).map(\.path)
    for path in older + [path] {
      let file: JournalFile
      do throws(JournalError) { file = try JournalFile(path, for: .reading) } catch {
        guard !older.isEmpty, case .system(_, _, ENOENT) = error else { throw error }
        absent.append(JournalSalvage.Loss(path: path, offset: 0, bytes: 0, reason: .absent))
        continue
      }
      let window = JournalWindow(file)
      var header: JournalHeader?
      do throws(JournalError) { header = try JournalScanner(window, path: path).header } catch {
        switch error {
        // A file in a newer format is not damaged.
        case .newerVersion, .unknownFlags: throw error
        default: break
        }
      }
      sources.append(Source(path: path, window: window, header: header, size: window.size))
    }
    // The files are sorted by the sequence numbers in their headers, so swapped names do not
    // matter. A file without a readable header stays where its name places it.
    var before: UInt64 = 0
    let keys = sources.map { source -> UInt64 in
      before = source.header?.first ?? before
      return before
    }
    sources = zip(keys, sources).enumerated()
      .sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }.map(\.element.1)
    let first = sources.lazy.compactMap(\.header).first
    copy = try JournalCopy(first ?? JournalHeader(first: 1, time: JournalFile.now), to: file)
    expected = first?.first
  }

  func run() throws(JournalError) -> JournalSalvage {
    var next: UInt64 = 0
    for source in sources.indices { next = find(in: source, after: next) }
    try merge()
    // The missing file is the newest one, so its loss comes last.
    report.losses = joinedLosses() + absent
    try copy.finish(next: max(self.next, expected ?? 0))
    report.files = sources.count
    return report
  }

  // MARK: Finding pieces

  /// Finds the pieces of a file. `number` is the one after that of the last call in front of it.
  /// Returns the number after that of the last call in it.
  private func find(in index: Int, after number: UInt64) -> UInt64 {
    let source = sources[index]
    if source.header == nil { lose(index, 0, JournalFormat.headerSize, .damaged) }
    let finder = RecordFinder(source.window)
    var numbers = ExpectedNumbers(next: source.header?.first ?? number)
    var definitions: [UInt16: Definition] = [:]
    var piece: SalvagePiece?
    var position = JournalFormat.headerSize
    while position < source.size {
      switch finder.look(at: position, next: numbers.least(at: position)) {
      case .record(let header):
        let end = position + header.length
        if take(header, at: position, of: index, &definitions) == .other {
          piece?.end = end
        } else {
          if let last = piece?.last, header.sequence > last {
            piece?.end = end
            piece?.last = header.sequence
          } else {
            piece.map { pieces.append($0) }
            piece = SalvagePiece(
              source: index, start: position, end: end, first: header.sequence,
              last: header.sequence, definitions: definitions)
          }
          numbers.meet(header.sequence, at: position)
        }
        position = end
      case .nothing(let end):
        piece.map { pieces.append($0) }
        piece = nil
        if end >= source.size, isRoom(source, from: position) { return numbers.next }
        lose(index, position, min(end, source.size), .damaged)
        position = end
      case .unreadable(let end, let code):
        piece.map { pieces.append($0) }
        piece = nil
        lose(index, position, min(end, source.size), .unreadable(code: code))
        position = end
      }
    }
    piece.map { pieces.append($0) }
    return numbers.next
  }

  /// Whether only preallocated zeros are left.
  private func isRoom(_ source: Source, from offset: Int) -> Bool {
    source.header?.tellsUnsynced == true
      && (try? source.window.firstNonZero(from: offset)) ?? 0 >= source.size
  }

  private enum Content {
    /// A call, or a mark in place of calls that a compaction removed.
    case call
    case other
  }

  /// Notes a definition, and the loss of a record of an unknown kind.
  private func take(
    _ header: RecordHeader, at offset: Int, of index: Int,
    _ definitions: inout [UInt16: Definition]
  ) -> Content {
    // A statement about the old file's disk state means nothing in another file.
    if header.kind == RecordKind.synced { return .other }
    let source = sources[index]
    let end = offset + header.length
    let flags = source.header?.tellsUnsynced == false ? header.flags : 0
    guard let kind = RecordKind(rawValue: header.kind), flags == 0 else {
      lose(index, offset, end, .unknownKind(header.kind))
      return .other
    }
    guard kind == .definition else { return .call }
    let start = offset + JournalFormat.recordSize
    do throws(WireError) {
      definitions[header.message] = try source.window.read(end - start, at: start) {
        (reader) throws(WireError) in try Definition(from: &reader)
      }
    } catch {
      lose(index, offset, end, .damaged)
    }
    return .other
  }

  // MARK: Merging pieces

  /// Copies the calls of all pieces in the order of their numbers.
  private func merge() throws(JournalError) {
    pieces.sort { ($0.first, $0.source, $0.start) < ($1.first, $1.source, $1.start) }
    var waiting = pieces[...]
    // Few pieces overlap, as each is a fault of the disk.
    var open: [SalvageCursor] = []
    while true {
      var least = open.indices.min { open[$0].comes(before: open[$1]) }
      while let piece = waiting.first,
        least.map({ piece.first <= open[$0].call?.header.sequence ?? 0 }) ?? true
      {
        waiting.removeFirst()
        var cursor = SalvageCursor(piece, sources[piece.source].window)
        if try advance(&cursor) { open.append(cursor) }
        least = open.indices.min { open[$0].comes(before: open[$1]) }
      }
      guard let least else { return }
      if let call = open[least].call { try save(call.header, at: call.offset, of: open[least]) }
      if try !advance(&open[least]) { open.remove(at: least) }
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
    _ header: RecordHeader, at offset: Int, of cursor: SalvageCursor
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
    guard let definition = cursor.definitions[header.message] else {
      return lose(index, offset, end, .undefined(message: header.message))
    }
    do throws(JournalError) {
      // Another cursor may have loaded other bytes of the file meanwhile.
      guard try source.window.load(header.length, at: offset) else {
        return lose(index, offset, end, .damaged)
      }
    } catch {
      guard case .system(_, _, let code) = error else { throw error }
      return lose(index, offset, end, .unreadable(code: code))
    }
    let contents: [UInt8]
    do throws(WireError) {
      contents = try source.window.read(end - start, at: start) { (reader) throws(WireError) in
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

  // MARK: Losses

  private func lose(_ index: Int, _ offset: Int, _ end: Int, _ reason: JournalSalvage.Reason) {
    guard end > offset else { return }
    let path = sources[index].path
    losses.append(
      (index, JournalSalvage.Loss(path: path, offset: offset, bytes: end - offset, reason: reason)))
  }

  /// The losses in the order of their places. Adjacent ones with the same reason are joined.
  private func joinedLosses() -> [JournalSalvage.Loss] {
    losses.sort { ($0.source, $0.loss.offset) < ($1.source, $1.loss.offset) }
    return losses.reduce(into: []) { joined, next in
      let loss = next.loss
      if let last = joined.last, last.path == loss.path, last.reason == loss.reason,
        last.offset + last.bytes == loss.offset
      {
        joined[joined.count - 1].bytes += loss.bytes
      } else {
        joined.append(loss)
      }
    }
  }
}
