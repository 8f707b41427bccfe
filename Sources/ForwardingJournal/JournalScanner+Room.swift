// SPDX-License-Identifier: Apache-2.0
import ForwardingWire

// The end of a file with preallocated zeros. A power cut preserves everything synced, and any part
// of the rest, so zeros may also remain in the middle.
extension JournalScanner {
  /// Whether only zeros are left in a file that may have preallocated ones. No record begins with
  /// zeros.
  var isAtRoom: Bool {
    get throws(JournalError) {
      guard header.tellsUnsynced else { return false }
      return try window.firstNonZero(from: offset) >= window.size
    }
  }

  /// Whether the broken record here may have been unsynced when the machine stopped. It was synced,
  /// and is now damaged, if a later record says that it was synced by then. It is also damaged if
  /// no sector with zeros stands in place of bytes that did not reach the disk.
  func isTornGroup(resuming place: Int) throws(JournalError) -> Bool {
    guard header.tellsUnsynced else { return false }
    let isLost = try window.hasLostBeginning(at: offset)
    guard try isLost ? true : window.hasLostSector(in: offset..<place) else { return false }
    var place: Int? = place
    while let start = place, let found = try wholeHeader(at: start) {
      guard found.sequence >= next else { return false }
      if found.sequence - next > found.unsynced { return false }
      place = try nextWhole(from: start + found.length)
    }
    return true
  }
}
