// SPDX-License-Identifier: Apache-2.0
import TypeEncodings

/// A number, pointer or bit-field inside a type, and its position.
package struct TypeLeaf: Hashable, Sendable, CustomStringConvertible {
  /// The kind of the leaf in short form: `i32`, `ptr`.
  package var name: String
  /// The offset in bits.
  package var bitOffset: Int
  /// The number of consecutive leaves without a gap; more than one in an array.
  package var count = 1
  /// The width of a bit-field; nil for other leaves.
  package var bitWidth: Int?

  package var description: String {
    if let bitWidth { return "\(name)@bit\(bitOffset):\(bitWidth)" }
    return "\(name)@\(bitOffset / 8)\(count == 1 ? "" : "*\(count)")"
  }
}

extension TypeEncoding {
  /// Returns the leaves with their offsets, inside structures, unions and arrays; at most `limit`,
  /// as a short string such as `[100000{S=cc}]` has many. Throws if an offset is unknown.
  package func leaves(
    limit: Int = 4096, on machine: Machine = .own
  ) throws(TypeEncodingError) -> [TypeLeaf] {
    _ = try layout
    var result: [TypeLeaf] = []
    try collectLeaves(at: 0, limit, machine, into: &result)
    return result
  }

  private func collectLeaves(
    at base: Int, _ limit: Int, _ machine: Machine, into result: inout [TypeLeaf]
  ) throws(TypeEncodingError) {
    guard result.count < limit else { return }
    switch kind {
    case .structure, .union:
      for member in members ?? [] {
        guard let offset = member.bitOffset else { continue }
        if case .bitField(let width, let storage, _) = member.type.kind {
          let name = "bf:" + Self.scalarName(storage ?? .int8, machine)
          result.append(TypeLeaf(name: name, bitOffset: base + offset, bitWidth: width))
          continue
        }
        // A registered layout may contain a type whose own members have no known offsets.
        _ = try member.type.layout
        try member.type.collectLeaves(at: base + offset, limit, machine, into: &result)
      }
    case .array(let count, let element), .vector(let count, let element):
      if let name = element.leafName(machine) {
        result.append(TypeLeaf(name: name, bitOffset: base, count: count))
        return
      }
      let (before, size) = (result.count, try element.layout.size)
      for position in 0..<count {
        if result.count >= limit { return }
        try element.collectLeaves(at: base + position * size * 8, limit, machine, into: &result)
        // If one element has no leaves, all others have no leaves either: `[2000000000{e=}]`.
        if result.count == before { return }
      }
    default:
      if let name = leafName(machine) { result.append(TypeLeaf(name: name, bitOffset: base)) }
    }
  }

  /// The short name of a type without members or elements; nil for other types.
  private func leafName(_ machine: Machine) -> String? {
    switch kind {
    case .scalar(let scalar): Self.scalarName(scalar, machine)
    case .complex(let scalar): "c" + Self.scalarName(scalar, machine)
    case .cString, .atom: "cstr"
    case .object: "id"
    case .block: "block"
    case .classReference: "class"
    case .selector: "sel"
    case .pointer(let pointee): pointee.kind == .unknown ? "fnptr" : "ptr"
    case .void, .unknown, .array, .structure, .union, .bitField, .vector: nil
    }
  }

  private static func scalarName(_ scalar: Scalar, _ machine: Machine) -> String {
    let bits = scalar.size * 8
    return switch scalar.normalized {
    case .bool: "bool"
    case .float, .double: "f\(bits)"
    case .longDouble: machine == .x86_64Linux ? "f80" : "f128"
    case .uint8, .uint16, .uint32, .uint64, .unsignedLong, .uint128: "u\(bits)"
    case .int8, .int16, .int32, .int64, .long, .int128: "i\(bits)"
    }
  }
}
