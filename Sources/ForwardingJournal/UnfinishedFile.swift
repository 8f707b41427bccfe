// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The end of the name of a file that a journal makes for itself, until the file is whole and has
/// its place.
enum UnfinishedFile: String, CaseIterable {
  case creating = ".creating~"
  case rotating = ".rotating~"
  case compacting = ".compacting~"

  /// Whether a path ends as that of such a file. Bytes are compared, because two files may have
  /// names of equal characters.
  static func isName(_ path: String) -> Bool {
    allCases.contains { end in
      path.utf8.suffix(end.rawValue.utf8.count).elementsEqual(end.rawValue.utf8)
    }
  }

  /// Begins a file that gets the path of a journal later, and locks it. A file that an interrupted
  /// process has left at its name is removed.
  func begin(of path: String) throws(JournalError) -> (file: JournalFile, name: String) {
    let name = path + rawValue
    // Other processes may do the same, but not without end.
    for _ in 0..<100 {
      do throws(JournalError) {
        // Until this lock is held, another process may be writing the file.
        let left = try open(name, .clearing, of: path)
        try left.lock()
        if try left.isAt(name) { try JournalFile.removeSurely(name) }
      } catch .system(_, _, ENOENT) {
      }
      let file: JournalFile
      do throws(JournalError) { file = try open(name, .creating, of: path) } catch {
        if case .system(_, _, EEXIST) = error { continue }
        throw error
      }
      do throws(JournalError) { try file.lock() } catch {
        // Another process may take it for one that was left.
        if case .locked = error { continue }
        JournalFile.remove(name)
        throw error
      }
      if try file.isAt(name) { return (file, name) }
    }
    throw .locked(path: path, holder: nil)
  }

  private func open(
    _ name: String, _ purpose: JournalFile.Purpose, of path: String
  ) throws(JournalError) -> JournalFile {
    do throws(JournalError) {
      // A new journal has no other path yet.
      return try JournalFile(name, for: purpose, named: self == .creating ? path : nil)
    } catch {
      // If there is no such file, the folder is missing, or refuses new files.
      guard case .system(let what, _, let code) = error, !JournalFile.exists(name) else {
        throw error
      }
      throw .system(what, path: path, code: code)
    }
  }
}
