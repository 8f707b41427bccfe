// SPDX-License-Identifier: Apache-2.0
extension TypeEncoding {
  /// A number, pointer or bit-field inside a type, and its position.
  public struct Leaf: Hashable, Sendable {
    /// The kind of the leaf, as in ``TypeEncoding/Kind``, in short form: `i32`, `ptr`.
    public var name: String
    /// The offset in bits.
    public var bitOffset: Int
    /// The number of consecutive leaves without a gap; more than one in an array.
    public var count: Int
    /// The width of a bit-field; nil for other leaves.
    public var bitWidth: Int?
  }

  /// Returns the leaves with their offsets, inside structures, unions and arrays; at most `limit`,
  /// so that a short string such as `[100000{S=cc}]` cannot require unbounded memory.
  ///
  /// - Throws: ``TypeEncodingError`` if an offset is unknown.
  public func leaves(limit: Int = 4096) throws(TypeEncodingError) -> [Leaf] {
    _ = try layout
    var result: [Leaf] = []
    try collectLeaves(at: 0, limit: limit, into: &result)
    return result
  }

  private func collectLeaves(
    at base: Int, limit: Int, into result: inout [Leaf]
  ) throws(TypeEncodingError) {
    guard result.count < limit else { return }
    let node = node
    switch node.form {
    case .structure, .union:
      for child in children where child.node.hasPosition {
        // A registered layout may contain a type whose own members have no known offsets.
        if child.node.form != .bitField { _ = try child.layout }
        try child.collectLeaves(at: base + child.node.position, limit: limit, into: &result)
      }
    case .array, .vector:
      let element = TypeEncoding(tree: tree, index: index + 1)
      if let name = element.leafName {
        result.append(Leaf(name: name, bitOffset: base, count: node.count))
        return
      }
      let before = result.count
      for position in 0..<node.count {
        if result.count >= limit { return }
        let start = base + position * Int(element.node.size) * 8
        try element.collectLeaves(at: start, limit: limit, into: &result)
        // If one element has no leaves, all others have no leaves either: `[2000000000{e=}]`.
        if result.count == before { return }
      }
    case .bitField:
      let name = "bf:" + scalarName(node.scalar)
      result.append(Leaf(name: name, bitOffset: base, count: 1, bitWidth: node.count))
    case .void, .unknown, .simd: break
    default:
      if let name = leafName { result.append(Leaf(name: name, bitOffset: base, count: 1)) }
    }
  }

  /// The short name of a type without members or elements; nil for other types.
  private var leafName: String? {
    switch node.form {
    case .scalar: scalarName(node.scalar)
    case .complex: "c" + scalarName(node.scalar)
    case .cString, .atom: "cstr"
    case .object: "id"
    case .block: "block"
    case .classReference: "class"
    case .selector: "sel"
    case .pointer: tree.nodes[index + 1].form == .unknown ? "fnptr" : "ptr"
    case .void, .unknown, .array, .structure, .union, .bitField, .vector, .simd: nil
    }
  }

  private func scalarName(_ scalar: Scalar) -> String {
    switch scalar.normalized {
    case .int8: "i8"
    case .uint8: "u8"
    case .int16: "i16"
    case .uint16: "u16"
    case .int32: "i32"
    case .uint32: "u32"
    case .int64, .long: "i64"
    case .uint64, .unsignedLong: "u64"
    case .int128: "i128"
    case .uint128: "u128"
    case .float: "f32"
    case .double: "f64"
    case .longDouble: tree.machine.longDoubleName
    case .bool: "bool"
    }
  }
}

extension TypeEncoding.Leaf: CustomStringConvertible {
  public var description: String {
    if let bitWidth { return "\(name)@bit\(bitOffset):\(bitWidth)" }
    return "\(name)@\(bitOffset / 8)\(count == 1 ? "" : "*\(count)")"
  }
}
