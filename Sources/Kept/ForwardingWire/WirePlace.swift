// SPDX-License-Identifier: Apache-2.0
import Invocations
import TypeEncodings

/// How the values of one place of a call are encoded. It is determined once, from the types that
/// this process has.
struct WirePlace: Sendable {
  /// How a value is encoded.
  enum Way: Sendable {
    /// There is no value.
    case nothing
    /// A number, or a structure of numbers.
    case numbers(NumberLayout)
    /// Text, which may be nil. A C string contains no NUL.
    case text(isOfC: Bool)
    /// A `[UInt8]`.
    case bytes
    /// A value of a `Codable` type, as JSON.
    case value(SwiftType)
  }

  let way: Way
  /// The canonical spelling of the type, without names of structures and without qualifiers.
  let spelling: String

  /// Makes the place of a type that this process has.
  ///
  /// - Throws: The reason why the type cannot be sent.
  init(_ type: TypeEncoding, _ content: PlaceContent, _ limits: WireLimits)
    throws(InterfaceError.Refusal)
  {
    switch content {
    case .nothing: self.init(.nothing, "v")
    case .cString: self.init(.text(isOfC: true), "*")
    case .text: self.init(.text(isOfC: false), "*")
    case .value(let swift) where swift.type == [UInt8].self: self.init(.bytes, "\(type)")
    case .value(let swift):
      guard swift.type is any Codable.Type else { throw .notCodable }
      if TrappingTypes.contain(swift.type) { throw .traps }
      self.init(.value(swift), "\(type)")
    case .bytes:
      self.init(.numbers(try NumberLayout(type, limits)), type.canonicalSpelling)
    case .address: throw NumberLayout.refusal(of: type)
    }
  }

  init(_ way: Way, _ spelling: String) {
    self.way = way
    self.spelling = spelling
  }

  /// The spelling of `[UInt8]`, which is not encoded as JSON.
  static let bytesSpelling = "^{Swift.Array_Swift.UInt8_}"

  /// The size of a value whose bytes are copied unchanged and are all valid; -1 for a `Bool`, 0 for
  /// other values.
  var wholeSize: Int {
    guard case .numbers(let layout) = way else { return 0 }
    return layout.isWhole ? layout.size : layout.size == 1 ? -1 : 0
  }
}

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

  /// Whether the bytes of a value are copied unchanged.
  var isWhole: Bool { runs.count == 1 && packed == size && flags.isEmpty }

  /// Makes the layout of a number or a structure of numbers.
  ///
  /// - Throws: The reason why another type cannot be sent.
  init(_ type: TypeEncoding, _ limits: WireLimits) throws(InterfaceError.Refusal) {
    guard let layout = try? type.layout, layout.size <= limits.message else { throw .shape }
    size = layout.size
    try add(type, at: 0, depth: 0, limits)
    if packed == 0 { throw .shape }
  }

  private mutating func add(
    _ type: TypeEncoding, at offset: Int, depth: Int, _ limits: WireLimits
  ) throws(InterfaceError.Refusal) {
    if depth > limits.depth { throw .depth(limit: limits.depth) }
    switch type.kind {
    case .scalar(.longDouble): throw .unportable
    case .scalar(let scalar): try add(scalar, 1, at: offset)
    case .structure(_, let members?):
      for member in members {
        if case .bitField = member.type.kind { throw .bitField }
        guard let bit = member.bitOffset else { throw .shape }
        try add(member.type, at: offset + bit / 8, depth: depth + 1, limits)
      }
    case .array(let count, let element) where depth > 0:
      guard let stride = try? element.layout.size, stride > 0 else { throw .shape }
      if case .scalar(let scalar) = element.kind, scalar != .longDouble {
        return try add(scalar, count, at: offset)
      }
      // Each element has at least one piece.
      guard count <= Self.pieces else { throw .shape }
      for index in 0..<count {
        try add(element, at: offset + index * stride, depth: depth + 1, limits)
      }
    default: throw Self.refusal(of: type)
    }
  }

  private mutating func add(
    _ scalar: Scalar, _ count: Int, at offset: Int
  ) throws(InterfaceError.Refusal) {
    let bytes = scalar.size * count
    if bytes == 0 { return }
    if scalar == .bool { flags.append(Run(offset: packed, count: bytes)) }
    if let last = runs.last, last.offset + last.count == offset {
      runs[runs.count - 1].count += bytes
    } else {
      runs.append(Run(offset: offset, count: bytes))
    }
    packed += bytes
    if runs.count > Self.pieces || flags.count > Self.pieces { throw .shape }
  }

  static func refusal(of type: TypeEncoding) -> InterfaceError.Refusal {
    switch type.kind {
    case .object: .object
    case .classReference, .selector: .name
    case .union: .union
    case .bitField: .bitField
    case .scalar(.longDouble), .complex, .vector: .unportable
    case .pointer, .block, .array, .cString, .atom, .unknown: .address
    case .structure, .scalar, .void: .shape
    }
  }
}
