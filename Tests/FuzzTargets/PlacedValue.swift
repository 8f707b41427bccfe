// SPDX-License-Identifier: Apache-2.0
import Invocations
import TypeEncodings

/// An argument that was set to a legal value, and the bytes that must be there from then on.
struct PlacedValue {
  let index: Int
  private let expected: [UInt8]
  private let mask: [UInt8]
  /// The text of a C string, whose copies have other addresses.
  private let text: String?

  private final class Thing: Sendable {}
  private static let thing = Thing()

  init(setting index: Int, in call: Invocation, _ input: inout FuzzInput) throws {
    self.index = index
    let type = try call.methodSignature.argumentType(at: index)
    switch type.kind {
    case .cString, .atom:
      let text = String(
        decoding: input.bytes(input.number(below: 8)).filter { $0 != 0 }, as: UTF8.self)
      try call.setArgument(text, at: index)
      self.text = text
      (expected, mask) = ([], [])
    case .object, .selector:
      if type.kind == .selector {
        try call.setArgument(Selector("fuzz:"), at: index)
      } else {
        try call.setArgument(input.byte() & 1 == 0 ? Self.thing : nil, at: index)
      }
      expected = try call.argumentBytes(at: index)
      mask = [UInt8](repeating: 0xFF, count: 8)
      text = nil
    default:
      text = nil
      let size = try call.argumentBytes(at: index).count
      try Self.tryNumbers(call, index, &input)
      mask = try ValueMask.of(type, size: size)
      let bytes = input.bytes(size)
      expected = zip(bytes, mask).map { $0 & $1 }
      // SAFETY: the addresses in it are masked out, so they are nil.
      try call.setArgument(bytes: expected, at: index)
    }
  }

  /// Checks that a number of any type is stored exactly, or refused without a change.
  private static func tryNumbers(
    _ call: Invocation, _ index: Int, _ input: inout FuzzInput
  ) throws {
    guard input.byte() & 7 == 0 else { return }
    let before = try call.argumentBytes(at: index)
    let number = input.bytes(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
    do {
      try call.setArgument(exactly: number, at: index)
    } catch {
      try demand(try call.argumentBytes(at: index) == before, "a refused number was stored")
    }
  }

  func check(in call: Invocation, _ when: String) throws {
    if let text {
      let found = try call.argument(at: index, as: String.self)
      return try demand(found == text, "argument \(index), \(when): \(text) became \(found)")
    }
    try check(call.argumentBytes(at: index), when)
  }

  func check(_ bytes: [UInt8], _ when: String) throws {
    if text != nil { return }
    let found = zip(bytes, mask).map { $0 & $1 }
    try demand(found == expected, "argument \(index), \(when): \(expected) became \(found)")
  }
}

/// The bits of a value that may be chosen freely: no padding, and no address that is followed.
enum ValueMask {
  static func of(_ type: TypeEncoding, size: Int) throws -> [UInt8] {
    var mask = [UInt8](repeating: 0, count: size)
    if case .array = type.kind { return [UInt8](repeating: 0xFF, count: size) }
    // A registered layout may contain members whose offsets are not known.
    for leaf in (try? type.leaves()) ?? [] {
      if let width = leaf.bitWidth {
        for bit in leaf.bitOffset..<leaf.bitOffset + width where bit / 8 < size {
          mask[bit / 8] |= 1 << UInt8(bit % 8)
        }
        continue
      }
      let (bits, stride) = pattern(leaf.name)
      for element in 0..<leaf.count {
        let start = leaf.bitOffset / 8 + element * stride
        for (index, byte) in bits.enumerated() where start + index < size {
          mask[start + index] |= byte
        }
      }
    }
    return mask
  }

  /// The bits of one leaf, and its stride in an array.
  private static func pattern(_ name: String) -> (bits: [UInt8], stride: Int) {
    func whole(_ count: Int) -> [UInt8] { [UInt8](repeating: 0xFF, count: count) }
    let isComplex = name.hasPrefix("c") && name != "cstr" && name != "class"
    let part: (bits: [UInt8], stride: Int) =
      switch isComplex ? String(name.dropFirst()) : name {
      case "bool": ([1], 1)
      case "i8", "u8": (whole(1), 1)
      case "i16", "u16": (whole(2), 2)
      case "i32", "u32", "f32": (whole(4), 4)
      case "i128", "u128": (whole(16), 16)
      case "f80": (whole(10), 16)
      case "i64", "u64", "f64", "ptr", "fnptr": (whole(8), 8)
      default: ([], 8)
      }
    guard isComplex else { return part }
    let padding = [UInt8](repeating: 0, count: part.stride - part.bits.count)
    return (part.bits + padding + part.bits, 2 * part.stride)
  }
}
