// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The send-buffer budget of a transport, for peers that are slow to read: 64 MB in all.
///
/// A connection may use up to 8 MB of it, and 256 KB in any case. So no connection takes the room
/// of others, and each can queue the largest message.
final class SendBudget: Sendable {
  static let (least, one, all) = (256 << 10, 8 << 20, 64 << 20)

  private let taken = Atomic(0)

  /// The cost of a message: its bytes, and the memory of its entry.
  static func cost(of bytes: [UInt8]) -> Int { bytes.count + 64 }

  /// Reserves room for a message of a connection that already has `waiting` bytes. Returns false if
  /// that is too much.
  func reserve(_ bytes: [UInt8], beside waiting: Int) -> Bool {
    let cost = Self.cost(of: bytes)
    let taken = taken.wrappingAdd(cost, ordering: .relaxed).newValue
    if waiting + cost <= max(Self.least, min(Self.one, Self.all - taken)) { return true }
    release(cost)
    return false
  }

  func release(_ cost: Int) { taken.wrappingSubtract(cost, ordering: .relaxed) }

  /// How many bytes wait to be sent at the moment.
  var waiting: Int { taken.load(ordering: .relaxed) }
}
