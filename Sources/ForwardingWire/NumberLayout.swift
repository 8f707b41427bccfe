// SPDX-License-Identifier: Apache-2.0
import TypeEncodings

/// Where the numbers of a value lie in memory, and where in the encoded value, which omits the
/// padding between them.
struct NumberLayout: Sendable {
  /// A range of contiguous bytes.
  struct Run: Sendable {
    var offset: Int
    var count: Int
  }

  /// The number of bytes of a value, in memory and encoded.
  private(set) var size = 0
  private(set) var packed = 0
  private(set) var runs: [Run] = []
  /// The encoded bytes that are each a `Bool`.
  private(set) var flags: [Run] = []

  /// The most pieces of a layout: `[1000000{=ci}]` has two in each element.
  private static let pieces = 1024

  /// The offset of an encoded byte that is not a `Bool`, although the layout has one there.
  func wrongFlag(of bytes: some RandomAccessCollection<UInt8>) -> Int? {
    for run in flags {
      for offset in run.offset..<run.offset + run.count
      where bytes[bytes.index(bytes.startIndex, offsetBy: offset)] > 1 {
        return offset
      }
    }
    return nil
  }

  /// Makes the layout of a number or a structure of numbers.
  init(_ type: TypeEncoding, _ limits: WireLimits) throws(InterfaceError.Refusal) {
    guard let layout = try? type.layout, layout.size <= limits.message else { throw .shape }
    try self.init(of: type, depth: 0, limits)
    size = layout.size
    if packed == 0 { throw .shape }
  }

  /// Makes the layout of a part, without its size. The elements of an array have one layout, which
  /// is made once, so the work does not grow with the size of a value.
  private init(
    of type: TypeEncoding, depth: Int, _ limits: WireLimits
  ) throws(InterfaceError.Refusal) {
    if depth > limits.depth { throw .depth(limit: limits.depth) }
    switch type.kind {
    case .scalar(.longDouble): throw .unportable
    case .scalar(let scalar): try add(scalar, 1)
    // A part without bytes is refused: in nested arrays, a few characters stand for millions of them,
    // as in `[1000[1000{=c{=}{=}}]]`.
    case .structure(_, let members?) where !members.isEmpty:
      for member in members {
        if case .bitField = member.type.kind { throw .unportable }
        guard let bit = member.bitOffset else { throw .shape }
        try add(NumberLayout(of: member.type, depth: depth + 1, limits), at: bit / 8)
      }
    case .array(let count, let element) where depth > 0:
      guard count > 0, let stride = try? element.layout.size, stride > 0 else { throw .shape }
      if case .scalar(let scalar) = element.kind, scalar != .longDouble {
        try add(scalar, count)
        return
      }
      guard count <= Self.pieces else { throw .shape }
      let part = try NumberLayout(of: element, depth: depth + 1, limits)
      for index in 0..<count { try add(part, at: index * stride) }
    default: throw Self.refusal(of: type)
    }
  }

  /// Adds numbers of one type, to a layout without numbers.
  private mutating func add(_ scalar: Scalar, _ count: Int) throws(InterfaceError.Refusal) {
    var part = NumberLayout()
    part.packed = scalar.size * count
    if part.packed > 0 { part.runs = [Run(offset: 0, count: part.packed)] }
    if scalar == .bool { part.flags = part.runs }
    try add(part, at: 0)
  }

  private mutating func add(
    _ part: NumberLayout, at offset: Int
  ) throws(InterfaceError.Refusal) {
    for run in part.runs {
      let start = offset + run.offset
      if let last = runs.last, last.offset + last.count == start {
        runs[runs.count - 1].count += run.count
      } else {
        runs.append(Run(offset: start, count: run.count))
      }
    }
    for flag in part.flags { flags.append(Run(offset: packed + flag.offset, count: flag.count)) }
    packed += part.packed
    if runs.count > Self.pieces || flags.count > Self.pieces { throw .shape }
  }

  private init() {}

  static func refusal(of type: TypeEncoding) -> InterfaceError.Refusal {
    switch type.kind {
    case .union, .bitField, .scalar(.longDouble), .complex, .vector: .unportable
    case .structure, .scalar, .void: .shape
    case .object, .classReference, .selector, .pointer, .block, .array, .cString, .atom, .unknown:
      .local
    }
  }
}
