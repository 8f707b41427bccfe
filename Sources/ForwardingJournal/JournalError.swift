// SPDX-License-Identifier: Apache-2.0
public import ForwardingWire

/// An error of opening, writing or reading a journal, with its place and the expected value.
///
/// ```swift
/// try JournalReader(at: "/nowhere/a.journal")  // throws: '/nowhere/a.journal' cannot be opened: No such file or directory
/// ```
@nonexhaustive
public enum JournalError: Error, Hashable, Sendable {
  /// A system call failed with this error number.
  case system(String, path: String, code: Int32)
  /// Another journal writes the file, in this process or another one. For a forked child, that is
  /// its parent.
  case locked(path: String)
  /// The file does not begin with the header of a journal.
  case notAJournal(path: String)
  /// The file was written in another version of the format.
  case otherVersion(path: String, known: Int, given: Int)
  /// A rotated file does not hold the records that its name and position imply. It has the bytes of
  /// another file, or another program put it there.
  case misplaced(path: String, expected: UInt64, given: UInt64)
  /// The newest file is missing, but rotated files are there. Its calls are lost, so no file is
  /// begun in its place.
  case withoutNewest(path: String, rotated: String)
  /// The path no longer leads to the file that is written: the file was removed, renamed, replaced
  /// or truncated. No reader would find further records, so the journal is closed.
  case displaced(path: String)
  /// The bytes at an offset are no record, but a record follows. Nothing is cut, because that would
  /// lose it. `resumes` is its offset; nil at the end of a rotated file.
  case damaged(offset: Int, resumes: Int?)
  /// A record is whole, but its contents do not follow the format.
  case malformed(offset: Int, WireError)
  /// Records are missing before the one at an offset: they were overwritten, or their file was
  /// removed.
  case missing(offset: Int, expected: UInt64, given: UInt64)
  /// A call was recorded with types that the interface does not have for its message, or the
  /// interface does not have the message.
  case schema(offset: Int, WireError)
  /// A call cannot be recorded.
  case refused(WireError)
  /// The journal is closed, by `close()` or by an error of the system.
  case closed(path: String)
  /// A value that is being read asks its own reader for the next record, or the reader is used
  /// during its replay.
  case inUse(path: String)
}

extension JournalError: CustomStringConvertible {
  public var description: String { words.visible }

  private var words: String {
    switch self {
    case .system(let what, let path, let code):
      "'\(path)' cannot be \(what): \(JournalFile.text(ofError: code))"
    case .locked(let path): "'\(path)' is being written by another journal: close that one first"
    case .notAJournal(let path): "'\(path)' is not a journal: it does not begin as one"
    case .otherVersion(let path, let known, let given):
      "'\(path)' cannot be read: it has version \(given) of the format, but only version \(known) is known here"
    case .misplaced(let path, let expected, let given):
      "'\(path)' begins with record \(given), but \(expected) is expected: it is a copy of another file, or another file is in its place"
    case .withoutNewest(let path, let rotated):
      "'\(path)' is missing, but its rotated file '\(rotated)' is there: restore it, or move the rotated files aside"
    case .displaced(let path):
      "'\(path)' was removed, renamed, replaced or truncated while the journal was open, so the journal is closed"
    case .damaged(let offset, let resumes):
      "the journal is damaged: there is no record at byte \(offset)"
        + (resumes.map { "; the next one is at byte \($0), where 'skipDamage()' goes on" } ?? "")
    case .malformed(let offset, let error): "the record at byte \(offset) is malformed: \(error)"
    case .missing(let offset, let expected, let given):
      "records are missing: that at byte \(offset) is number \(given), but \(expected) is expected"
    case .schema(let offset, let error):
      "the record at byte \(offset) does not fit the interface: \(error.reason)"
    case .refused(let error): "the call cannot be recorded: \(error.reason)"
    case .closed(let path): "the journal '\(path)' is closed"
    case .inUse(let path): "what the reader of '\(path)' decodes or replays cannot read from it"
    }
  }
}
