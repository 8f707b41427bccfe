// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The budget that all duplicate windows of a process share, however many objects it exposes: calls
/// beyond the minimum of each window, and bytes of answers.
package final class DuplicateRoom: Sendable {
  package static let process = DuplicateRoom(entries: 1 << 17, bytes: 32 << 20)

  private let entriesLeft: Atomic<Int>
  private let bytesLeft: Atomic<Int>

  init(entries: Int, bytes: Int) {
    entriesLeft = Atomic(entries)
    bytesLeft = Atomic(bytes)
  }

  /// The remaining budget.
  var left: (entries: Int, bytes: Int) {
    (entriesLeft.load(ordering: .relaxed), bytesLeft.load(ordering: .relaxed))
  }

  func takeEntry() -> Bool { Self.take(1, of: entriesLeft) }

  func take(bytes: Int) -> Bool { Self.take(bytes, of: bytesLeft) }

  func give(entries: Int) { entriesLeft.wrappingAdd(entries, ordering: .relaxed) }

  func give(bytes: Int) { bytesLeft.wrappingAdd(bytes, ordering: .relaxed) }

  private static func take(_ count: Int, of left: borrowing Atomic<Int>) -> Bool {
    if left.wrappingSubtract(count, ordering: .relaxed).newValue >= 0 { return true }
    left.wrappingAdd(count, ordering: .relaxed)
    return false
  }
}
