// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Foundation

/// Copies the whole calls of a journal's files to another file.
///
/// The files are read twice: first from one whole record to the next, which gives pieces with calls
/// in order, and then by merging the pieces. So a record that a disk has put in front of others
/// does not hide them, and each call is in the order of its number.
final class Salvager {
  struct Source {
    var path: String
    var header: JournalHeader?
    /// The reason why there is no header.
    var headerLoss = JournalSalvage.Reason.damaged
    var size: Int
    /// The definitions of each number, in the order of their offsets.
    var definitions: [UInt16: [(offset: Int, definition: Definition)]] = [:]

    /// The last definition of a number in front of an offset. A damaged file may have very many.
    func definition(of number: UInt16, before offset: Int) -> Definition? {
      guard let all = definitions[number] else { return nil }
      var (low, high) = (0, all.count)
      while low < high {
        let middle = (low + high) / 2
        if all[middle].offset < offset { low = middle + 1 } else { high = middle }
      }
      return low > 0 ? all[low - 1].definition : nil
    }
  }

  var report = JournalSalvage()
  var sources: [Source] = []
  var pieces: [SalvagePiece] = []
  private var losses: [(source: Int, loss: JournalSalvage.Loss)] = []
  private var absent: [JournalSalvage.Loss] = []
  /// The newest file, which keeps being read if it is rotated meanwhile.
  private let newest: JournalWindow?
  private let path: String
  /// Some of the other files. More of them than a process may open can belong to a journal.
  private var windows: [(source: Int, window: JournalWindow)] = []
  /// The sequence number after the last copied call, and the one expected of the next call.
  var next: UInt64 = 0
  var expected: UInt64?

  init(_ path: String) throws(JournalError) {
    self.path = path
    let (file, older) = try Self.files(path)
    newest = file.map { JournalWindow($0) }
    for path in older { try add(path, JournalWindow(JournalFile(path, for: .reading))) }
    if let newest {
      try add(path, newest)
    } else {
      absent.append(JournalSalvage.Loss(path: path, offset: 0, bytes: 0, reason: .absent))
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
    expected = sources.lazy.compactMap(\.header).first?.first
  }

  /// Opens the newest file, and lists the others. Files that are rotated after it was opened are
  /// not needed.
  private static func files(
    _ path: String
  ) throws(JournalError) -> (JournalFile?, [String]) {
    while true {
      var newest: JournalFile?
      var failure: JournalError?
      do throws(JournalError) { newest = try JournalFile(path, for: .reading) } catch {
        guard case .system(_, _, ENOENT) = error else { throw error }
        failure = error
      }
      let older = try JournalFiles.list(path).map(\.path)
      if let failure, older.isEmpty { throw failure }
      guard let newest else { return (nil, older) }
      guard try newest.isAt(path) else { continue }
      // In the middle of a rotation, the newest file has a second name.
      let isNamedTwice = try older.last.map { (last) throws(JournalError) in try newest.isAt(last) }
      return (newest, isNamedTwice == true ? older.dropLast() : older)
    }
  }

  private func add(_ path: String, _ window: JournalWindow) throws(JournalError) {
    var source = Source(path: path, size: try window.size)
    do throws(JournalError) { source.header = try JournalScanner(window, path: path).header } catch
    {
      switch error {
      // A file in a newer format is not damaged.
      case .newerVersion, .unknownFlags: throw error
      case .system(_, path: _, let code): source.headerLoss = .unreadable(code: code)
      default: break
      }
    }
    sources.append(source)
  }

  /// Opens a file again, unless it is open.
  func window(of index: Int) throws(JournalError) -> JournalWindow {
    if let newest, sources[index].path == path { return newest }
    if let open = windows.first(where: { $0.source == index }) { return open.window }
    let window = JournalWindow(try JournalFile(sources[index].path, for: .reading))
    if windows.count == 8 { windows.removeFirst() }
    windows.append((index, window))
    return window
  }

  func run(to file: JournalFile) throws(JournalError) -> JournalSalvage {
    var next: UInt64 = 0
    for source in sources.indices { next = try find(in: source, after: next) }
    var header =
      sources.lazy.compactMap(\.header).first ?? JournalHeader(first: 1, time: JournalFile.now)
    // The header of the file with the first calls may be lost.
    header.first = pieces.reduce(header.first) { min($0, $1.first) }
    let copy = try JournalCopy(header, to: file)
    try merge(into: copy)
    // The missing file is the newest one, so its loss comes last.
    report.losses = joinedLosses() + absent
    try copy.finish(next: max(self.next, expected ?? 0))
    report.files = sources.count
    return report
  }

  // MARK: Finding pieces

  /// Finds the pieces of a file. `number` is the one after that of the last call in front of it.
  /// Returns the number after that of the last call in it.
  private func find(in index: Int, after number: UInt64) throws(JournalError) -> UInt64 {
    let source = sources[index]
    let window = try window(of: index)
    if source.header == nil { lose(index, 0, JournalFormat.headerSize, source.headerLoss) }
    let finder = RecordFinder(window, size: source.size)
    var numbers = ExpectedNumbers(next: source.header?.first ?? number)
    var piece: SalvagePiece?
    var position = JournalFormat.headerSize
    while position < source.size {
      switch finder.look(at: position, next: numbers.least(at: position)) {
      case .record(let header):
        let end = position + header.length
        switch take(header, at: position, of: index, window) {
        case .other: piece?.end = end
        case .nothing:
          piece.map { pieces.append($0) }
          piece = nil
        case .call:
          if let last = piece?.last, header.sequence > last {
            piece?.end = end
            piece?.last = header.sequence
          } else {
            piece.map { pieces.append($0) }
            piece = SalvagePiece(
              source: index, start: position, end: end, first: header.sequence,
              last: header.sequence)
          }
          numbers.meet(header.sequence, at: position)
        }
        position = end
      case .nothing(let end):
        piece.map { pieces.append($0) }
        piece = nil
        if end >= source.size, isRoom(source, window, from: position) { return numbers.next }
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
  private func isRoom(_ source: Source, _ window: JournalWindow, from offset: Int) -> Bool {
    source.header?.tellsUnsynced == true
      && (try? window.firstNonZero(from: offset)) ?? 0 >= source.size
  }

  private enum Content {
    /// A call, or a mark in place of calls that a compaction removed.
    case call
    case other
    /// A record with a number that no journal can have.
    case nothing
  }

  /// Notes a definition, and the loss of a record of an unknown kind.
  private func take(
    _ header: RecordHeader, at offset: Int, of index: Int, _ window: JournalWindow
  ) -> Content {
    // A statement about the old file's disk state means nothing in another file.
    if header.kind == RecordKind.synced { return .other }
    let end = offset + header.length
    guard header.sequence < JournalFormat.numbers else {
      lose(index, offset, end, .damaged)
      return .nothing
    }
    let flags = sources[index].header?.tellsUnsynced == false ? header.flags : 0
    guard let kind = RecordKind(rawValue: header.kind), flags == 0 else {
      lose(index, offset, end, .unknownKind(header.kind))
      return .other
    }
    guard kind == .definition else { return .call }
    let start = offset + JournalFormat.recordSize
    do throws(WireError) {
      let definition = try window.read(end - start, at: start) {
        (reader) throws(WireError) in try Definition(from: &reader)
      }
      sources[index].definitions[header.message, default: []].append((offset, definition))
    } catch {
      lose(index, offset, end, .damaged)
    }
    return .other
  }

  // MARK: Losses

  func lose(_ index: Int, _ offset: Int, _ end: Int, _ reason: JournalSalvage.Reason) {
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
