// SPDX-License-Identifier: Apache-2.0
/// A stack that can also drop its oldest entry, in amortized constant time.
struct EntryList {
  private var entries: [Entry?] = []
  /// The number of empty slots at the front.
  private var first = 0

  var count: Int { entries.count - first }
  var isEmpty: Bool { entries.count == first }
  var last: Entry? { entries.last ?? nil }

  /// The entries, oldest first.
  var all: [Entry] { entries[first...].compactMap { $0 } }

  /// The newest entry that satisfies the predicate.
  ///
  /// - Complexity: O(*n*) in the number of entries.
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

  /// Removes the oldest entry. The caller retains it until the list may be modified again, because
  /// releasing it can run a `deinit` that uses the list.
  ///
  /// - Complexity: amortized O(1).
  mutating func popFirst() -> Entry? {
    guard !isEmpty else { return nil }
    let oldest = entries[first]
    entries[first] = nil
    first += 1
    // More than half of the slots are empty: the remaining entries move to the front. On average
    // each entry moves once.
    if first > 16, first > entries.count / 2 {
      entries.removeFirst(first)
      first = 0
    }
    return oldest
  }

  /// Modifies the newest entry, if there is one.
  mutating func replaceLast(_ change: (inout Entry) -> Void) {
    guard var entry = last else { return }
    change(&entry)
    entries[entries.count - 1] = entry
  }

  init() {}
  init(_ entries: [Entry]) { self.entries = entries }
}
