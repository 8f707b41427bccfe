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
  private static let leaves = Set(
    ([
      Bool.self, String.self, Double.self, Float.self, Int.self, Int8.self, Int16.self, Int32.self,
      Int64.self, Int128.self, UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self,
      UInt128.self, Date.self, Data.self, URL.self, Decimal.self,
    ] as [Any.Type]).map { ObjectIdentifier($0) })

  private func visit<Value: Encodable>(_ value: Value) throws {
    if Self.leaves.contains(ObjectIdentifier(Value.self)) { return }
    guard left > 0 else { throw TooDeep() }
    try value.encode(to: inside)
  }

  /// One level deeper. Containers cannot throw when they are made; values in them throw later.
  private var inside: ValueDepth { ValueDepth(left: max(0, left - 1)) }

  private mutating func next() -> ValueDepth {
    count += 1
    return inside
  }

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

  mutating func superEncoder() -> any Encoder { next() }
  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next() }
  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) -> KeyedEncodingContainer<Key> { next().container(keyedBy: type) }

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
