import Invocations
import TypeEncodings

/// How the values of one place are written: found once, from the types that this process has.
struct WirePlace: Sendable {
  /// How a value becomes bytes.
  enum Way: Sendable {
    /// There is none.
    case nothing
    /// A number, or numbers in a structure.
    case numbers(NumberLayout)
    /// Text, or none; that of C holds no NUL.
    case text(isOfC: Bool)
    /// A `[UInt8]`.
    case bytes
    /// A value of a `Codable` type, as JSON.
    case value(SwiftType)
  }

  let way: Way
  /// The one spelling of the type: names of structures and qualifiers do not count.
  let spelling: String

  /// The place of a type that this process has.
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

  /// The spelling of a `[UInt8]`, which has no JSON.
  static let bytesSpelling = "^{Swift.Array_Swift.UInt8_}"

  /// How many bytes a value has that is written as it lies, whatever they are; -1 for a `Bool`, 0 for others.
  var wholeSize: Int {
    guard case .numbers(let layout) = way else { return 0 }
    return layout.isWhole ? layout.size : layout.size == 1 ? -1 : 0
  }
}

/// Where the numbers of a value lie, and where they stand when they are written one behind the other, without
/// what is between them in memory.
struct NumberLayout: Sendable {
  /// Bytes that lie together.
  struct Run: Sendable {
    var offset: Int
    var count: Int
  }

  /// The bytes of a value in memory, and written.
  private(set) var size = 0
  private(set) var packed = 0
  private(set) var runs: [Run] = []
  /// The written bytes that are each a `Bool`.
  private(set) var flags: [Run] = []

  /// More pieces than this are refused: `[1000000{=ci}]` has two in each element.
  private static let pieces = 1024

  /// Whether a value is written as it lies.
  var isWhole: Bool { runs.count == 1 && packed == size && flags.isEmpty }

  /// The layout of numbers and of structures of them; of nothing else.
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
      // One piece at least for each.
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
