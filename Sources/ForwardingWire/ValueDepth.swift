// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Encodes a value without output, to find out whether it nests too deeply before a real encoder
/// overflows the stack.
///
/// The depth counts all values inside of values. Some of them do not appear in the JSON, so there
/// may be more of them than of lists. Lists are counted exactly in the JSON.
struct ValueDepth: Encoder, SingleValueEncodingContainer, UnkeyedEncodingContainer {
  private let left: Int
  /// The number of elements so far.
  private(set) var count = 0
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  private init(left: Int) { self.left = left }

  private struct TooDeep: Error {}

  /// Checks that a value can be encoded within the limits.
  static func check<Value: Encodable>(
    _ value: Value, _ limits: WireLimits, at offset: Int
  ) throws {
    let most = min(max(0, limits.depth), 1 << 32)
    do { try ValueDepth(left: 4 * most + 16).visit(value) } catch is TooDeep {
      throw WireError(.nestedTooDeeply(limit: limits.depth), at: offset)
    }
  }

  /// Types that the JSON encoder encodes directly.
  private static let leaves: Set<ObjectIdentifier> = [
    ObjectIdentifier(Bool.self), ObjectIdentifier(String.self), ObjectIdentifier(Double.self),
    ObjectIdentifier(Float.self), ObjectIdentifier(Int.self), ObjectIdentifier(Int8.self),
    ObjectIdentifier(Int16.self), ObjectIdentifier(Int32.self), ObjectIdentifier(Int64.self),
    ObjectIdentifier(Int128.self), ObjectIdentifier(UInt.self), ObjectIdentifier(UInt8.self),
    ObjectIdentifier(UInt16.self), ObjectIdentifier(UInt32.self), ObjectIdentifier(UInt64.self),
    ObjectIdentifier(UInt128.self), ObjectIdentifier(Date.self), ObjectIdentifier(Data.self),
    ObjectIdentifier(URL.self), ObjectIdentifier(Decimal.self),
  ]

  private func visit<Value: Encodable>(_ value: Value) throws {
    if Self.leaves.contains(ObjectIdentifier(Value.self)) { return }
    guard left > 0 else { throw TooDeep() }
    try value.encode(to: inside)
  }

  /// One level deeper. Containers cannot throw when they are made; values in them throw later.
  private var inside: ValueDepth { ValueDepth(left: max(0, left - 1)) }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Keyed<Key>(depth: self))
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer { ValueDepth(left: left) }
  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  mutating func encodeNil() { count += 1 }
  mutating func encode<Value: Encodable>(_ value: Value) throws {
    count += 1
    try visit(value)
  }
  // The default implementations of the protocols throw for these types.
  mutating func encode(_ value: Int128) { count += 1 }
  mutating func encode(_ value: UInt128) { count += 1 }

  mutating func superEncoder() -> any Encoder {
    count += 1
    return inside
  }
  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    count += 1
    return inside
  }
  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) -> KeyedEncodingContainer<Key> {
    count += 1
    return inside.container(keyedBy: type)
  }

  private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let depth: ValueDepth
    var codingPath: [any CodingKey] { [] }
    func encodeNil(forKey key: Key) {}
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try depth.visit(value) }
    func encode(_ value: Int128, forKey key: Key) {}
    func encode(_ value: UInt128, forKey key: Key) {}
    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { depth.inside.container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { depth.inside }
    func superEncoder() -> any Encoder { depth.inside }
    func superEncoder(forKey key: Key) -> any Encoder { depth.inside }
  }
}
