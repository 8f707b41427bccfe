// SPDX-License-Identifier: Apache-2.0
/// Stands for a message in the calls between processes: eight bytes in place of its names.
///
/// One half depends on the interface and the selector, and finds the message. The other half also
/// depends on the types, and tells whether both processes have the same ones. So a host that has
/// other types finds the message all the same, and its error can show them.
///
/// Both are FNV-1a hashes of 64 bits, folded to 32. The bytes `ff` between the texts do not occur
/// in UTF-8. The hash needs no secret, as only this process adds to its tables.
package struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
  package let selector: UInt32
  package let types: UInt32

  /// The number of encoded bytes.
  package static let size = 8

  package init(selector: UInt32, types: UInt32) {
    (self.selector, self.types) = (selector, types)
  }

  package init(_ interface: [UInt8], _ selector: [UInt8], _ encoding: [UInt8]) {
    let names = Self.hash(selector, after: Self.hash([0xFF], after: Self.hash(interface)))
    self.selector = Self.folded(names)
    types = Self.folded(Self.hash(encoding, after: Self.hash([0xFF], after: names)))
  }

  /// The FNV-1a hash of bytes, which goes on from that of the bytes before them.
  package static func hash(
    _ bytes: some Sequence<UInt8>, after start: UInt64 = 0xCBF2_9CE4_8422_2325
  ) -> UInt64 {
    bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  package var description: String {
    "fingerprint \(String(selector, radix: 16)) \(String(types, radix: 16))"
  }

  private static func folded(_ hash: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: hash ^ hash >> 32)
  }
}
