import Invocations

/// The last calls of an object, so that one which comes again is not performed again.
///
/// A sender chooses the numbers of its calls, and so could fill a table with calls that lie at one place of it. Where
/// they lie depends on two numbers that are drawn here, and told to nobody.
package final class DuplicateWindow: Sendable {
  enum Finding {
    case new
    /// It is being performed, or its answer is not kept any more.
    case begun
    case answered(RemoteAnswer)
  }

  /// How many calls are known, and how many where the process has no more room.
  private static let (count, least) = (4096, 256)
  /// Longer answers are not kept.
  private static let bytes = 1024

  private struct Entry {
    let key: RemoteRequest.Key
    var answer: RemoteAnswer?
    /// The next one at the same place of the table; -1 behind the last.
    var next: Int16
  }

  private struct State {
    /// The first entry at each place.
    var places: [Int16] = []
    /// A ring, as soon as it is full: it does not grow any more then.
    var entries: [Entry] = []
    var oldest = 0
    var isFull = false
    let ofSender = UInt64.random(in: .min ... .max) | 1
    let ofNumber = UInt64.random(in: .min ... .max) | 1

    /// The highest bits of a product depend on all bits of what is multiplied. There is a power of two of places.
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

    /// Notes a call that is not here, in place of the oldest one where there is no room; returns that one.
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

    /// Twice as many places.
    private mutating func makePlaces() {
      places = Array(repeating: -1, count: max(64, 2 * places.count))
      for index in entries.indices {
        entries[index].next = link(entries[index].key, as: index).next
      }
    }

    /// Puts an entry in front of those at the same place.
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

  /// Says whether a call came before, and notes it.
  func look(_ key: RemoteRequest.Key) -> Finding {
    let (finding, old) = state.withLockInPlace { state -> (Finding, Entry?) in
      if let index = state.find(key) {
        return (state.entries[index].answer.map { .answered($0) } ?? .begun, nil)
      }
      return (.new, state.add(key, in: room))
    }
    if let answer = old?.answer { room.give(bytes: answer.body.count) }
    return finding
  }

  /// Keeps the answer to a call, if the process has room for it.
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
