// SPDX-License-Identifier: Apache-2.0
import Invocations

/// The most recent calls of an exposed object, so that a repeated call is not performed again.
///
/// A sender chooses the numbers of its calls, and could choose them so that all fall into one
/// bucket of a hash table. So the bucket depends on two random factors that are secret to this
/// window.
package final class DuplicateWindow: Sendable {
  enum Finding {
    case new
    /// The call is being performed, or its answer is no longer stored.
    case begun
    case answered(RemoteAnswer)
  }

  /// The capacity in calls, and the capacity if the process's budget is exhausted.
  private static let (count, least) = (4096, 256)
  /// The most bytes of an answer that is stored.
  private static let bytes = 1024

  private struct Entry {
    let key: RemoteRequest.Key
    var answer: RemoteAnswer?
    /// The next entry of the same bucket; -1 for the last entry.
    var next: Int16
  }

  private struct State {
    /// The first entry of each bucket.
    var places: [Int16] = []
    /// Becomes a ring buffer, which no longer grows, once it is full.
    var entries: [Entry] = []
    var oldest = 0
    var isFull = false
    let ofSender = UInt64.random(in: .min ... .max) | 1
    let ofNumber = UInt64.random(in: .min ... .max) | 1

    /// Multiplicative hashing: the highest bits of a product depend on all bits of its factors. The
    /// number of buckets is a power of two.
    func place(of key: RemoteRequest.Key) -> Int {
      let product = key.sender &* ofSender &+ key.number &* ofNumber
      return Int(product >> UInt64(64 - places.count.trailingZeroBitCount))
    }

    func find(_ key: RemoteRequest.Key) -> Int? {
      if entries.isEmpty { return nil }
      var index = Int(places[place(of: key)])
      while index >= 0, entries[index].key != key { index = Int(entries[index].next) }
      return index >= 0 ? index : nil
    }

    /// Adds an unknown call. If there is no room, it replaces the oldest entry and returns that.
    mutating func add(_ key: RemoteRequest.Key, in room: DuplicateRoom) -> Entry? {
      if !isFull, entries.count >= DuplicateWindow.least {
        isFull = entries.count == DuplicateWindow.count || !room.takeEntry()
      }
      if !isFull {
        if entries.count == places.count { makePlaces() }
        entries.append(link(key, as: entries.count))
        return nil
      }
      let index = oldest
      oldest = (oldest + 1) % entries.count
      unlink(index)
      let old = entries[index]
      entries[index] = link(key, as: index)
      return old
    }

    /// Doubles the number of buckets, and links all entries again.
    private mutating func makePlaces() {
      places = Array(repeating: -1, count: max(64, 2 * places.count))
      for index in entries.indices {
        entries[index].next = link(entries[index].key, as: index).next
      }
    }

    /// Makes an entry the first of its bucket.
    private mutating func link(_ key: RemoteRequest.Key, as index: Int) -> Entry {
      let place = place(of: key)
      defer { places[place] = Int16(index) }
      return Entry(key: key, answer: nil, next: places[place])
    }

    private mutating func unlink(_ index: Int) {
      let place = place(of: entries[index].key)
      var other = Int(places[place])
      if other == index { return places[place] = entries[index].next }
      while Int(entries[other].next) != index { other = Int(entries[other].next) }
      entries[other].next = entries[index].next
    }
  }

  private let state = Guarded(State())
  private let room: DuplicateRoom

  package init(in room: DuplicateRoom = .process) { self.room = room }

  deinit {
    let entries = state.read { $0.entries }
    room.give(entries: max(0, entries.count - Self.least))
    for entry in entries { if let answer = entry.answer { room.give(bytes: answer.body.count) } }
  }

  /// Looks a call up, and records it if it is new.
  func lookUpOrInsert(_ key: RemoteRequest.Key) -> Finding {
    let (finding, old) = state.withLockInPlace { state -> (Finding, Entry?) in
      if let index = state.find(key) {
        return (state.entries[index].answer.map { .answered($0) } ?? .begun, nil)
      }
      return (.new, state.add(key, in: room))
    }
    if let answer = old?.answer { room.give(bytes: answer.body.count) }
    return finding
  }

  /// Stores the answer to a call, if the answer is short enough and the process's budget allows it.
  func keep(_ answer: RemoteAnswer, for key: RemoteRequest.Key) {
    let count = answer.body.count
    guard count <= Self.bytes, room.take(bytes: count) else { return }
    let isKept = state.withLockInPlace { state in
      guard let index = state.find(key), state.entries[index].answer == nil else { return false }
      state.entries[index].answer = answer
      return true
    }
    if !isKept { room.give(bytes: count) }
  }
}
