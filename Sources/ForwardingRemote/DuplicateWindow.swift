import Invocations

/// The calls that came last, so that one which comes again is not performed again.
///
/// Whoever sends chooses the numbers of its calls, and so could fill a table with calls that lie at one place of it. Where
/// they lie depends on two numbers that are drawn here, and told to nobody.
package final class DuplicateWindow: Sendable {
  enum Finding {
    case new
    /// It is being performed, or its answer is not kept any more.
    case begun
    case answered(RemoteAnswer)
  }

  /// How many calls are known.
  private static let count = 4096
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
    /// A ring, as soon as it is full.
    var entries: [Entry] = []
    var oldest = 0
    let ofSender = UInt64.random(in: .min ... .max) | 1
    let ofNumber = UInt64.random(in: .min ... .max) | 1

    /// The highest bits of a product depend on all bits of what is multiplied.
    func place(of key: RemoteRequest.Key) -> Int {
      Int((key.sender &* ofSender &+ key.number &* ofNumber) >> 52)
    }

    func find(_ key: RemoteRequest.Key) -> Int? {
      if entries.isEmpty { return nil }
      var index = Int(places[place(of: key)])
      while index >= 0, entries[index].key != key { index = Int(entries[index].next) }
      return index >= 0 ? index : nil
    }

    /// Notes a call that is not here, in place of the oldest one.
    mutating func add(_ key: RemoteRequest.Key) {
      if entries.isEmpty { places = Array(repeating: -1, count: DuplicateWindow.count) }
      var index = entries.count
      if index == DuplicateWindow.count {
        index = oldest
        oldest = (oldest + 1) % DuplicateWindow.count
        unlink(index)
      }
      let place = place(of: key)
      let entry = Entry(key: key, answer: nil, next: places[place])
      if index == entries.count { entries.append(entry) } else { entries[index] = entry }
      places[place] = Int16(index)
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

  package init() {}

  /// Says whether a call came before, and notes it.
  func look(_ key: RemoteRequest.Key) -> Finding {
    state.withLockInPlace { state in
      if let index = state.find(key) {
        return state.entries[index].answer.map { .answered($0) } ?? .begun
      }
      state.add(key)
      return .new
    }
  }

  /// Keeps the answer to a call.
  func keep(_ answer: RemoteAnswer, for key: RemoteRequest.Key) {
    guard answer.body.count <= Self.bytes else { return }
    state.withLockInPlace { state in
      if let index = state.find(key) { state.entries[index].answer = answer }
    }
  }
}
