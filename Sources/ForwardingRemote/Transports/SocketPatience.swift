import Synchronization

/// How much may wait to be sent over all sockets of a transport, for those who do not read.
///
/// One has what all the others leave, and 8 MB at most. So each who comes when many read nothing still gets as much as
/// any of them.
final class SocketPatience: Sendable {
  static let (one, all) = (8 << 20, 64 << 20)

  private let taken = Atomic(0)

  /// What a message needs: its bytes, and the place that they are kept in.
  static func cost(of bytes: [UInt8]) -> Int { bytes.count + 64 }

  /// Keeps a message beside as many bytes of the same connection; false if that is too much.
  func keeps(_ bytes: [UInt8], beside waiting: Int) -> Bool {
    let cost = Self.cost(of: bytes)
    let taken = taken.wrappingAdd(cost, ordering: .relaxed).newValue
    if waiting + cost <= min(Self.one, Self.all - taken) { return true }
    gets(back: cost)
    return false
  }

  func gets(back cost: Int) { taken.wrappingSubtract(cost, ordering: .relaxed) }

  /// How many bytes wait at the moment.
  var waiting: Int { taken.load(ordering: .relaxed) }
}
