import ForwardingWire

// The end of a file that has room behind its records. A power cut leaves what was synced, and of what was not, any part:
// zeros in the middle, too.
extension JournalScanner {
  /// Whether nothing but zeros is left of a file that may have room. A record does not begin with them.
  var isAtRoom: Bool {
    get throws(JournalError) {
      guard header.tellsUnsynced else { return false }
      return try window.firstNonZero(from: offset) >= window.size
    }
  }

  /// Whether the record that is not whole here may be one that was not synced when the machine stopped. It was, if any
  /// record behind it says that it was synced by then: that is damage. So is a record in which no zeros stand in place of
  /// what has not come to the disk.
  func isTornGroup(resuming place: Int) throws(JournalError) -> Bool {
    guard header.tellsUnsynced else { return false }
    let isLost = try window.hasLostBeginning(at: offset)
    guard try isLost ? true : window.hasZeros(in: offset..<place) else { return false }
    var place: Int? = place
    while let start = place, let found = try wholeHeader(at: start) {
      guard found.sequence >= next else { return false }
      if found.sequence - next > found.unsynced { return false }
      place = try nextWhole(from: start + found.length)
    }
    return true
  }
}
