/// A stack whose oldest entries may go as well, in constant time.
struct EntryList {
  private var entries: [Entry?] = []
  /// How many places at the front are empty.
  private var first = 0

  var count: Int { entries.count - first }
  var isEmpty: Bool { entries.count == first }
  var last: Entry? { entries.last ?? nil }

  /// The entries, oldest first.
  var all: [Entry] { entries[first...].compactMap { $0 } }

  /// The newest entry that counts.
  func newest(where isMeant: (Entry) -> Bool) -> Entry? {
    var index = entries.count
    while index > first {
      index -= 1
      if let entry = entries[index], isMeant(entry) { return entry }
    }
    return nil
  }

  mutating func append(_ entry: consuming Entry) { entries.append(entry) }

  mutating func popLast() -> Entry? {
    guard !isEmpty, let last = entries.popLast() else { return nil }
    if first > 0, isEmpty {
      entries.removeAll(keepingCapacity: true)
      first = 0
    }
    return last
  }

  /// Takes out the oldest entry. The caller keeps it until the list may be changed again.
  mutating func popFirst() -> Entry? {
    guard !isEmpty else { return nil }
    let oldest = entries[first]
    entries[first] = nil
    first += 1
    // Half of it empty: what is left moves, so each entry has moved once on the average.
    if first > 16, first > entries.count / 2 {
      entries.removeFirst(first)
      first = 0
    }
    return oldest
  }

  /// Changes the newest entry, if there is one.
  mutating func replaceLast(_ change: (inout Entry) -> Void) {
    guard var entry = last else { return }
    change(&entry)
    entries[entries.count - 1] = entry
  }

  init() {}
  init(_ entries: [Entry]) { self.entries = entries }
}
