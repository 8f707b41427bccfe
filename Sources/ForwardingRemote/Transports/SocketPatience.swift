import Synchronization

/// How much may wait to be sent over all sockets of a transport, for those who do not read.
///
/// One has up to 8 MB of the 64 MB that are there for all, and 256 KB in any case: so nobody takes the room of others, and
/// the largest message can wait for each.
final class SocketPatience: Sendable {
  static let (least, one, all) = (256 << 10, 8 << 20, 64 << 20)

  private let taken = Atomic(0)

  /// What a message needs: its bytes, and the place that they are kept in.
  static func cost(of bytes: [UInt8]) -> Int { bytes.count + 64 }

  /// Keeps a message beside as many bytes of the same connection; false if that is too much.
  func keeps(_ bytes: [UInt8], beside waiting: Int) -> Bool {
    let cost = Self.cost(of: bytes)
    let taken = taken.wrappingAdd(cost, ordering: .relaxed).newValue
    if waiting + cost <= max(Self.least, min(Self.one, Self.all - taken)) { return true }
    gets(back: cost)
    return false
  }

  func gets(back cost: Int) { taken.wrappingSubtract(cost, ordering: .relaxed) }

  /// How many bytes wait at the moment.
  var waiting: Int { taken.load(ordering: .relaxed) }
}
