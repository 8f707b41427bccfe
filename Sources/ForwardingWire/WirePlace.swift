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

  /// The structures and arrays in a value, the value included.
  private var lists = 0

  /// The most pieces of a layout: `[1000000{=ci}]` has two in each element.
  private static let pieces = 1024
  /// How many lists a value may have in addition to one for each encoded byte. Empty structures
  /// have no bytes, and nested arrays multiply them: `[1000[1000{=c{=}{=}}]]` has three million.
  private static let spareLists = 4096

  /// Whether the bytes of a value are copied unchanged.
  var isWhole: Bool { runs.count == 1 && packed == size && flags.isEmpty }

  /// Makes the layout of a number or a structure of numbers.
  ///
  /// - Throws: The reason why another type cannot be sent.
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
    case .structure(_, let members?):
      lists = 1
      for member in members {
        if case .bitField = member.type.kind { throw .bitField }
        guard let bit = member.bitOffset else { throw .shape }
        try add(NumberLayout(of: member.type, depth: depth + 1, limits), at: bit / 8)
      }
    case .array(let count, let element) where depth > 0:
      guard let stride = try? element.layout.size, stride > 0 else { throw .shape }
      lists = 1
      if case .scalar(let scalar) = element.kind, scalar != .longDouble {
        try add(scalar, count)
        return
      }
      guard count <= Self.pieces else { throw .shape }
      if count == 0 { return }
      var part = try NumberLayout(of: element, depth: depth + 1, limits)
      if part.packed == stride, part.flags.isEmpty {
        // The bytes of all elements are one piece.
        part.runs = [Run(offset: 0, count: stride * count)]
        part.packed = stride * count
        part.lists *= count
        try add(part, at: 0)
        return
      }
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
    lists += part.lists
    if runs.count > Self.pieces || flags.count > Self.pieces { throw .shape }
    if lists > Self.spareLists + packed { throw .shape }
  }

  private init() {}

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
