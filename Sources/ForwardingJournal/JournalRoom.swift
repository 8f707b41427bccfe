// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

/// Preallocated zeros behind the records of a file, which further records overwrite. Then neither
/// the length of the file nor its location on the disk changes, so a sync writes only the record.
struct JournalRoom {
  /// The maximum of bytes that are preallocated at a time.
  static let most = 1 << 18

  /// The number of bytes that are preallocated at a time; 0 for a file without preallocation.
  private let step: Int
  /// The offset where the zeros end.
  private(set) var end: Int
  /// The end of the last preallocation that failed, so that not every record retries it.
  private var refused = 0

  init(_ step: Int, end: Int) { (self.step, self.end) = (step, end) }

  /// The number of bytes to preallocate at a time: 0 if no call waits for the disk, and at most the
  /// size at which the file is rotated.
  static func step(_ options: JournalOptions) -> Int {
    options.sync == .never ? 0 : min(most, max(4096, options.rotation ?? most))
  }

  /// Preallocates zeros for `count` bytes and some more. A full disk is no error here, because the
  /// record itself may still fit.
  @inline(__always)
  mutating func make(_ count: Int, at start: Int, in file: JournalFile) {
    if step > 0, start + count > end { makeMore(start + count, in: file) }
  }

  private mutating func makeMore(_ needed: Int, in file: JournalFile) {
    let wanted = (needed / step + 1) * step
    guard wanted > refused else { return }
    var writer = WireWriter(limit: .max)
    guard (try? writer.append([UInt8](repeating: 0, count: wanted - end))) != nil,
      (try? file.append(writer, at: end)) != nil
    else { return refused = wanted }
    end = wanted
  }

  /// Notes that the bytes behind the records were cut.
  mutating func forget(behind end: Int) { self.end = end }

  /// Cuts the remaining zeros. A failure is harmless.
  mutating func trim(to size: Int, of file: JournalFile) {
    guard end > size else { return }
    try? file.cut(to: size)
    end = size
  }
}
