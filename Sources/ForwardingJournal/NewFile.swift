// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Foundation

// A file that gets the journal's path when its header is on the disk, so that readers never find a
// file without one.
extension JournalFile {
  /// Begins a file under a name that no other process uses, locks it, and writes its header, which
  /// is on the disk then.
  ///
  /// - Returns: the file, and its name. An interrupted process leaves a file with such a name, which
  ///   nothing reads.
  static func begin(
    for path: String, first: UInt64
  ) throws(JournalError) -> (file: JournalFile, name: String) {
    let name = "\(path).\(String(UInt32.random(in: 0...UInt32.max), radix: 16)).new~"
    let file = try JournalFile(name, O_RDWR | O_CREAT | O_EXCL, named: path)
    do throws(JournalError) {
      try file.lock()
      var writer = WireWriter(limit: JournalFormat.headerSize)
      do throws(WireError) {
        try JournalHeader(first: first, time: now).write(to: &writer)
      } catch {
        throw .refused(error)
      }
      try file.append(writer, at: 0)
      try file.sync()
    } catch {
      try? remove(name)
      throw error
    }
    return (file, name)
  }
}
