// SPDX-License-Identifier: Apache-2.0
import Foundation

// The names of files.
extension JournalFile {
  /// Waits until the names in the folder of a path are on the disk.
  static func syncFolder(of file: String) throws(JournalError) {
    let path = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "."
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor < 0 {
      // Some file systems have no folders to sync, and a folder may be unreadable: no error.
      if [EACCES, EPERM, EINVAL, EISDIR, ENOTSUP].contains(errno) { return }
      throw .system("opened", path: path, code: errno)
    }
    defer { close(descriptor) }
    while fsync(descriptor) != 0 {
      let code = errno
      // The file system cannot sync names.
      if [EINVAL, ENOTSUP, EROFS].contains(code) { return }
      if code != EINTR { throw .system("synchronized", path: path, code: code) }
    }
  }

  /// The names in a folder.
  static func names(in folder: String) throws(JournalError) -> [String] {
    guard let stream = unsafe opendir(folder) else {
      throw .system("listed", path: folder, code: errno)
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while true {
      // Only errno distinguishes the end from an error.
      errno = 0
      guard let entry = unsafe readdir(stream) else { break }
      // SAFETY: a zero-terminated string within the entry, valid until the next readdir.
      names.append(
        unsafe withUnsafePointer(to: &entry.pointee.d_name) {
          unsafe String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
        })
    }
    if errno != 0 { throw .system("listed", path: folder, code: errno) }
    return names
  }

  /// Renames a file, and replaces a file that has the new name.
  static func move(_ old: String, to new: String) throws(JournalError) {
    if unsafe rename(old, new) != 0 { throw .system("renamed", path: old, code: errno) }
  }

  /// Gives a file another name, which must not exist.
  static func name(_ old: String, as new: String) throws(JournalError) {
    if unsafe link(old, new) != 0 { throw .system("linked", path: new, code: errno) }
  }

  /// Removes a file, which may be gone already.
  static func remove(_ path: String) throws(JournalError) {
    if unsafe unlink(path) != 0, errno != ENOENT {
      throw .system("removed", path: path, code: errno)
    }
  }
}
