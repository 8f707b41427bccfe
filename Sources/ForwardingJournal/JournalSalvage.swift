import ForwardingWire
import Foundation

/// The calls that were taken out of a damaged journal, and what was left out.
///
/// ```swift
/// func rescue(_ path: String) throws {
///   let salvage = try Journal.salvage(path, to: path + ".salvaged")
///   print(salvage.saved, "calls")
///   for loss in salvage.losses { print(loss) }  // a.journal: 4096 bytes from byte 20480 on cannot be read
/// }
/// ```
public struct JournalSalvage: Hashable, Sendable {
  /// How many calls the new journal has.
  public fileprivate(set) var saved = 0
  /// How many files were read.
  public fileprivate(set) var files = 0
  /// The bytes and records that it does not have, as they lie in the files, in the order of these.
  public fileprivate(set) var losses: [Loss] = []
  /// The numbers that no record of the new journal has, between the first and the last. Those that were compacted away
  /// are not among them.
  public fileprivate(set) var missing: [ClosedRange<UInt64>] = []

  /// Bytes of a file that the new journal does not have.
  public struct Loss: Hashable, Sendable, CustomStringConvertible {
    /// The file.
    public let path: String
    /// Where they begin.
    public let offset: Int
    /// How many they are.
    public fileprivate(set) var bytes: Int
    /// Why.
    public let reason: Reason

    public var description: String {
      let file = WireValue.visible(path)
      if reason == .absent { return "\(file) \(reason)" }
      return "\(file): \(bytes) bytes from byte \(offset) on \(reason)"
    }
  }

  /// Why bytes were left out.
  public enum Reason: Hashable, Sendable, CustomStringConvertible {
    /// They are no record.
    case damaged
    /// The whole file is not there, and nothing tells how many bytes it had, or which numbers.
    case absent
    /// The disk does not give them back, and leaves this error number.
    case unreadable(code: Int32)
    /// They are calls of a message whose definition, which has this number in the file, was lost.
    case undefined(message: UInt16)
    /// They are calls whose numbers another file had already.
    case repeated
    /// They are records of a kind that a newer version made.
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
  /// Writes each call that is whole to a new journal, also those behind damage, with its number and time.
  ///
  /// The files of the journal stay as they are, and those that were put aside are read in the order of the numbers in
  /// their beginnings, whatever their names say. Where the newest is gone, the others are read. Nothing may be at `output`
  /// yet. Throws if there is no whole call.
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
  /// The number behind that of the last call, and the number that is expected.
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
        // What a newer version wrote is not damaged.
        case .newerVersion, .unknownFlags: throw error
        default: break
        }
      }
      sources.append(Source(path: path, window: window, header: header, size: window.size))
    }
    // Files that have each other's names are read in their order all the same. One without a beginning stays where its
    // name says.
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
    // It was the newest: its calls would stand behind all others.
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

  /// Whether nothing but the room for more records is left.
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
    // What it tells of the disk is of no use in another file.
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
      // The numbers in front of it were compacted away.
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

  /// Notes bytes that are left out, with those in front of them if the reason is the same.
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
