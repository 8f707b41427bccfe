// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Encodes a value without output, to find out whether it nests too deeply before a real encoder
/// overflows the stack.
///
/// The depth counts all values inside of values. Some of them do not appear in the JSON, so there
/// may be more of them than of lists. Lists are counted exactly in the JSON.
struct ValueDepth: Encoder {
  private let left: Int
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  struct TooDeep: Error {}

  /// Checks that a value can be encoded within the limits.
  ///
  /// - Throws: ``WireError`` if it nests too deeply; errors of the value's own encoding.
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

  private func deeper() throws -> ValueDepth {
    guard left > 0 else { throw TooDeep() }
    return ValueDepth(left: left - 1)
  }

  /// One level deeper, for containers, which cannot throw when they are made. Values in them throw
  /// later.
  private var inside: ValueDepth { ValueDepth(left: max(0, left - 1)) }

  private func visit<Value: Encodable>(_ value: Value) throws {
    if Self.leaves.contains(ObjectIdentifier(Value.self)) { return }
    try value.encode(to: deeper())
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Keyed<Key>(depth: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { List(depth: self) }

  func singleValueContainer() -> any SingleValueEncodingContainer { Single(depth: self) }

  private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let depth: ValueDepth
    var codingPath: [any CodingKey] { [] }
    func encodeNil(forKey key: Key) {}
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
      try depth.visit(value)
    }
    // The default implementations of the protocols throw for these types.
    func encode(_ value: Int128, forKey key: Key) {}
    func encode(_ value: UInt128, forKey key: Key) {}
    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { depth.inside.container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      depth.inside.unkeyedContainer()
    }
    func superEncoder() -> any Encoder { depth.inside }
    func superEncoder(forKey key: Key) -> any Encoder { depth.inside }
  }

  private struct List: UnkeyedEncodingContainer {
    let depth: ValueDepth
    private(set) var count = 0
    var codingPath: [any CodingKey] { [] }

    init(depth: ValueDepth) { self.depth = depth }

    mutating func encodeNil() { count += 1 }
    mutating func encode<Value: Encodable>(_ value: Value) throws {
      count += 1
      try depth.visit(value)
    }
    mutating func encode(_ value: Int128) { count += 1 }
    mutating func encode(_ value: UInt128) { count += 1 }
    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
      count += 1
      return depth.inside.container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
      count += 1
      return depth.inside.unkeyedContainer()
    }
    mutating func superEncoder() -> any Encoder {
      count += 1
      return depth.inside
    }
  }

  private struct Single: SingleValueEncodingContainer {
    let depth: ValueDepth
    var codingPath: [any CodingKey] { [] }
    func encodeNil() {}
    func encode(_ value: Int128) {}
    func encode(_ value: UInt128) {}
    func encode<Value: Encodable>(_ value: Value) throws { try depth.visit(value) }
  }
}
