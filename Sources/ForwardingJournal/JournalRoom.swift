import ForwardingWire

/// Zeros behind the records of a file, into which others are written: neither the file's length nor where it lies on the
/// disk changes then, so that a wait for the disk is for the record alone.
struct JournalRoom {
  /// The most that is made at a time.
  static let most = 1 << 18

  /// How much is made at a time; 0 for a file that has no room.
  private let step: Int
  /// Where the room ends.
  private(set) var end: Int
  /// Where it should have ended when the disk did not take it, so that not each record tries again.
  private var refused = 0

  init(_ step: Int, end: Int) { (self.step, self.end) = (step, end) }

  /// How much room a file of these options has at a time: none that nobody waits for, and not more than a file that is
  /// put aside has records.
  static func step(_ options: JournalOptions) -> Int {
    options.sync == .never ? 0 : min(most, max(4096, options.rotation ?? most))
  }

  /// Makes room for so many bytes, and for some more. Where the disk is full there is none, which is no error: the
  /// record itself may fit.
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

  /// What is behind the records was cut.
  mutating func forget(behind end: Int) { self.end = end }

  /// Cuts the room that is left. Where that cannot be done, it does no harm.
  mutating func trim(to size: Int, of file: JournalFile) {
    guard end > size else { return }
    try? file.cut(to: size)
    end = size
  }
}
