import ForwardingWire
import Foundation

/// The result of a salvage: the calls taken from a damaged journal, and the losses.
///
/// ```swift
/// func rescue(_ path: String) throws {
///   let salvage = try Journal.salvage(path, to: path + ".salvaged")
///   print(salvage.saved, "calls")
///   for loss in salvage.losses { print(loss) }  // a.journal: 4096 bytes from byte 20480 on cannot be read
/// }
/// ```
public struct JournalSalvage: Hashable, Sendable {
  /// The number of calls in the new journal.
  public fileprivate(set) var saved = 0
  /// The number of files that were read.
  public fileprivate(set) var files = 0
  /// The bytes and records that the new journal lacks, in the order of the files and their offsets.
  public fileprivate(set) var losses: [Loss] = []
  /// The sequence numbers between the first and the last that no record of the new journal has.
  /// Numbers that a compaction removed are not included.
  public fileprivate(set) var missing: [ClosedRange<UInt64>] = []

  /// Bytes of a file that are not in the new journal.
  public struct Loss: Hashable, Sendable, CustomStringConvertible {
    /// The path of the file.
    public let path: String
    /// The offset of the first byte.
    public let offset: Int
    /// The number of bytes.
    public fileprivate(set) var bytes: Int
    /// Why they are lost.
    public let reason: Reason

    public var description: String {
      let file = WireValue.visible(path)
      if reason == .absent { return "\(file) \(reason)" }
      return "\(file): \(bytes) bytes from byte \(offset) on \(reason)"
    }
  }

  /// Why bytes were not copied.
  public enum Reason: Hashable, Sendable, CustomStringConvertible {
    /// They are no record.
    case damaged
    /// The whole file is missing. Its size and its sequence numbers are unknown.
    case absent
    /// Reading them fails with this error number.
    case unreadable(code: Int32)
    /// They are calls of a message whose definition was lost. The definition has this number in the
    /// file.
    case undefined(message: UInt16)
    /// They are calls whose sequence numbers another file already had.
    case repeated
    /// They are records of a kind that a newer version introduced.
    case unknownKind(UInt8)

    public var description: String {
      switch self {
      case .damaged: "are no record"
      case .absent: "is not there"
      case .unreadable(let code): "cannot be read: \(JournalFile.text(ofError: code))"
      case .undefined(let message): "are calls of message \(message), whose definition was lost"
      case .repeated: "are calls that came before"
      case .unknownKind(let kind): "have kind \(kind), which a newer version knows"
      }
    }
  }
}

extension Journal {
  /// Copies each whole call to a new journal, with its number and time, even if it follows damage.
  ///
  /// The files of the journal do not change. The rotated files are read in the order of the
  /// sequence numbers in their headers, whatever their names are. If the newest file is missing,
  /// the others are read.
  ///
  /// - Parameters:
  ///   - path: the damaged journal.
  ///   - output: the path of the new journal, where no file may exist yet.
  /// - Returns: the copied calls and the losses, in numbers and places.
  /// - Throws: ``JournalError/notAJournal(path:)`` if there is no whole call;
  ///   ``JournalError/newerVersion(path:known:given:)`` or
  ///   ``JournalError/unknownFlags(path:flags:)`` if a file is of a newer version;
  ///   ``JournalError/system(_:path:code:)`` if a file exists at `output`, or the disk fails.
  /// - Complexity: O(*n*) in the size of the files, unless they are damaged.
  @discardableResult
  public static func salvage(
    _ path: String, to output: String
  ) throws(JournalError) -> JournalSalvage {
    let path = JournalFiles.file(path)
    let output = JournalFiles.absolute(output)
    if let older = try JournalFiles.list(output).first {
      throw .system("opened", path: older.path, code: EEXIST)
    }
    let file = try JournalFile(output, for: .creating)
    do throws(JournalError) {
      let salvager = try Salvager(path, to: file)
      let salvage = try salvager.run()
      guard salvage.saved > 0 else { throw .notAJournal(path: path) }
      try file.sync()
      try JournalFile.syncFolder(of: output)
      return salvage
    } catch {
      JournalFile.remove(output)
      throw error
    }
  }
}

/// Reads the files of a journal from one whole record to the next.
private final class Salvager {
  private struct Source {
    var path: String
    var window: JournalWindow
    var header: JournalHeader?
    var size: Int
  }

  private var report = JournalSalvage()
  private var sources: [Source] = []
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
    for source in sources { try read(source) }
    // The missing file is the newest one, so its loss comes last.
    report.losses += absent
    try copy.finish(next: max(next, expected ?? 0))
    report.files = sources.count
    return report
  }

  private func read(_ source: Source) throws(JournalError) {
    if source.header == nil { lose(source, 0, JournalFormat.headerSize, .damaged) }
    let finder = RecordFinder(source.window)
    var definitions: [UInt16: Definition] = [:]
    var position = JournalFormat.headerSize
    while position < source.size {
      switch finder.look(at: position, next: next) {
      case .record(let header):
        try take(header, at: position, of: source, &definitions)
        position += header.length
      case .nothing(let end):
        if end >= source.size, isRoom(source, from: position) { return }
        lose(source, position, min(end, source.size), .damaged)
        position = end
      case .unreadable(let end, let code):
        lose(source, position, min(end, source.size), .unreadable(code: code))
        position = end
      }
    }
  }

  /// Whether only preallocated zeros are left.
  private func isRoom(_ source: Source, from offset: Int) -> Bool {
    source.header?.tellsUnsynced == true
      && (try? source.window.firstNonZero(from: offset)) ?? 0 >= source.size
  }

  private func take(
    _ header: RecordHeader, at offset: Int, of source: Source,
    _ definitions: inout [UInt16: Definition]
  ) throws(JournalError) {
    let end = offset + header.length
    let start = offset + JournalFormat.recordSize
    // A statement about the old file's disk state means nothing in another file.
    if header.kind == RecordKind.synced { return }
    let flags = source.header?.tellsUnsynced == false ? header.flags : 0
    guard let kind = RecordKind(rawValue: header.kind), flags == 0 else {
      return lose(source, offset, end, .unknownKind(header.kind))
    }
    let contents: [UInt8]
    do throws(WireError) {
      if kind == .definition {
        definitions[header.message] = try source.window.read(end - start, at: start) {
          (reader) throws(WireError) in try Definition(from: &reader)
        }
        return
      }
      contents = try source.window.read(end - start, at: start) { (reader) throws(WireError) in
        try reader.bytes(reader.left)
      }
    } catch {
      return lose(source, offset, end, .damaged)
    }
    guard header.sequence >= next else {
      if kind != .mark { lose(source, offset, end, .repeated) }
      return
    }
    if kind == .mark {
      // The sequence numbers before it were removed by a compaction.
      expected = header.sequence + 1
      return
    }
    guard let definition = definitions[header.message] else {
      return lose(source, offset, end, .undefined(message: header.message))
    }
    try copy.append(header, definition, contents)
    report.saved += 1
    if let expected, header.sequence > expected, source.header?.isCompacted != true {
      report.missing.append(expected...header.sequence - 1)
    }
    next = header.sequence + 1
    expected = next
  }

  /// Notes lost bytes. They are joined with adjacent ones that have the same reason.
  private func lose(
    _ source: Source, _ offset: Int, _ end: Int, _ reason: JournalSalvage.Reason
  ) {
    if let last = report.losses.last, last.path == source.path, last.reason == reason,
      last.offset + last.bytes == offset
    {
      report.losses[report.losses.count - 1].bytes = end - last.offset
    } else if end > offset {
      report.losses.append(
        JournalSalvage.Loss(
          path: source.path, offset: offset, bytes: end - offset, reason: reason))
    }
  }
}
