// SPDX-License-Identifier: Apache-2.0
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
  public internal(set) var saved = 0
  /// The number of files that were read.
  public internal(set) var files = 0
  /// The bytes and records that the new journal lacks, in the order of the files and their offsets.
  public internal(set) var losses: [Loss] = []
  /// The sequence numbers between the first and the last that no record of the new journal has.
  /// Numbers that a compaction removed are not included.
  public internal(set) var missing: [ClosedRange<UInt64>] = []

  /// Bytes of a file that are not in the new journal.
  public struct Loss: Hashable, Sendable, CustomStringConvertible {
    /// The path of the file.
    public let path: String
    /// The offset of the first byte.
    public let offset: Int
    /// The number of bytes.
    public internal(set) var bytes: Int
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
    /// They are calls whose sequence numbers a call of another place already had.
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
  /// The calls of the new journal have the order of their numbers, wherever a disk has put them.
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
  ///   ``JournalError/unfinishedName(path:)`` if `output` is no name for a journal;
  ///   ``JournalError/system(_:path:code:)`` if a file exists at `output`, or at `output` with
  ///   `.part` behind it, where the copy is made, or the disk fails.
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
    if JournalFile.exists(output) { throw .system("opened", path: output, code: EEXIST) }
    if UnfinishedFile.isName(output) { throw .unfinishedName(path: output) }
    // A file of this name would count as one of the damaged journal's.
    if JournalFiles.isRotated(output, of: path) {
      throw .system("opened", path: output, code: EINVAL)
    }
    // The new journal gets its name when it is whole, so that no other journal writes the file
    // meanwhile, and an interrupted copy does not look like a journal.
    let file = try JournalFile(output + ".part", for: .creating)
    defer { JournalFile.remove(file.path) }
    try file.lock()
    let salvage = try Salvager(path).run(to: file)
    guard salvage.saved > 0 else { throw .notAJournal(path: path) }
    try file.sync()
    try check(file, salvage)
    try JournalFile.name(file.path, as: output)
    try JournalFile.syncFolder(of: output)
    return salvage
  }

  /// Reads a new journal, which must have as many calls as were copied.
  private static func check(
    _ file: JournalFile, _ salvage: JournalSalvage
  ) throws(JournalError) {
    let scanner = try JournalScanner(JournalWindow(file), path: file.path)
    var count = 0
    while try scanner.nextCall() != nil { count += 1 }
    guard count == salvage.saved, scanner.tail == .whole else {
      throw .damaged(offset: scanner.offset, resumes: nil)
    }
  }
}
