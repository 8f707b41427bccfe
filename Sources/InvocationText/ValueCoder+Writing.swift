// SPDX-License-Identifier: Apache-2.0
package import TypeEncodings

extension ValueCoder {
  /// Whether there is text at an address.
  package typealias IsText = (UInt) -> Bool

  /// Whether this coder allocated text at an address.
  package func isOwnText(_ address: UInt) -> Bool { texts.contains(address) }

  /// Returns a value as JSON. Text is shown where `isText` returns true, but never in unions, whose
  /// memory may hold another member. Other addresses are shown as numbers.
  package static func value(
    of bytes: ArraySlice<UInt8>, _ type: TypeEncoding, _ isText: IsText = { _ in false }
  ) throws(TextFault) -> JSONValue {
    switch type.kind {
    case .void, .unknown: return .null
    case .scalar(let scalar): return self.scalar(bytes, scalar)
    case .complex(let scalar):
      let half = bytes.count / 2
      return .array([
        self.scalar(bytes.prefix(half), scalar), self.scalar(bytes.suffix(half), scalar),
      ])
    case .cString where isText(Integers.word(bytes)), .atom where isText(Integers.word(bytes)):
      return text(at: Integers.word(bytes))
    case .array(let count, let element), .vector(let count, let element):
      return try elements(bytes, count, element, type, isText)
    case .structure(_, let members?):
      return try self.members(members, bytes, isText)
    case .union(_, let members?): return try self.members(members, bytes) { _ in false }
    default:
      let word = Integers.word(bytes)
      return word == 0 && type.isAddress ? .null : .string("0x" + String(word, radix: 16))
    }
  }

  /// Returns the current contents of memory that was allocated for a JSON array; nil for another
  /// address.
  package func contents(
    atPointer bytes: [UInt8], _ isText: IsText = { _ in false }
  ) throws(TextFault) -> JSONValue? {
    let address = Integers.word(bytes[...])
    guard let (element, count) = pointed[address],
      let start = unsafe UnsafeRawPointer(bitPattern: address)
    else { return nil }
    let size = try Self.size(of: element)
    // SAFETY: `copy` allocated this block for `count` elements.
    let image = unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: size * count))
    var values: [JSONValue] = []
    for index in 0..<count {
      values.append(
        try Self.value(of: image[(index * size)..<((index + 1) * size)], element, isText))
    }
    return .array(values)
  }

  private static func size(of type: TypeEncoding) throws(TextFault) -> Int {
    try TextFault.wrapping(at: 0) { () throws(TypeEncodingError) in try type.layout.size }
  }

  private static func elements(
    _ bytes: ArraySlice<UInt8>, _ count: Int, _ element: TypeEncoding, _ type: TypeEncoding,
    _ isText: IsText
  ) throws(TextFault) -> JSONValue {
    let size = try size(of: element)
    // Values without a size take no memory, so there may be any number of them, and nested arrays
    // multiply them.
    let (empty, isTooLarge) = count.multipliedReportingOverflow(by: element.emptyValues)
    guard !isTooLarge, empty <= 4096 + bytes.count else {
      throw TextFault(.tooManyElements(type), at: 0)
    }
    var values: [JSONValue] = []
    for index in 0..<count {
      let part = bytes.dropFirst(index * size).prefix(size)
      values.append(try value(of: part, element, isText))
    }
    return .array(values)
  }

  private static func members(
    _ members: [TypeEncoding.Member], _ bytes: ArraySlice<UInt8>, _ isText: IsText
  ) throws(TextFault) -> JSONValue {
    var values: [JSONValue] = []
    for one in members { values.append(try member(one, bytes, isText)) }
    return .array(values)
  }

  private static func member(
    _ member: TypeEncoding.Member, _ bytes: ArraySlice<UInt8>, _ isText: IsText
  ) throws(TextFault) -> JSONValue {
    let bit = member.bitOffset ?? 0
    guard case .bitField(let width, let storage?, _) = member.type.kind else {
      let size = try size(of: member.type)
      return try value(of: bytes.dropFirst(bit / 8).prefix(size), member.type, isText)
    }
    var bits: UInt128 = 0
    for index in 0..<width {
      let byte = bytes[bytes.startIndex + (bit + index) / 8]
      if byte >> UInt8((bit + index) % 8) & 1 == 1 { bits |= 1 << index }
    }
    if storage == .bool { return .bool(bits != 0) }
    return Integers.value(bits, width, isSigned: Integers.isSigned(storage))
  }

  /// Returns the text at an address; null for address zero.
  static func text(at address: UInt) -> JSONValue {
    // SAFETY: the encoding says that a C string is there, and the code that set it guarantees that.
    guard let start = unsafe UnsafePointer<CChar>(bitPattern: address) else { return .null }
    return .string(unsafe String(cString: start))
  }

  private static func scalar(_ bytes: ArraySlice<UInt8>, _ scalar: Scalar) -> JSONValue {
    if scalar == .bool { return .bool(bytes.first != 0) }
    if scalar.isFloatingPoint { return Floats.value(bytes, scalar) }
    return Integers.value(bytes, scalar)
  }
}

extension TypeEncoding {
  /// Whether values of the type are addresses.
  var isAddress: Bool {
    switch kind {
    case .pointer, .object, .block, .classReference, .selector, .cString, .atom: true
    default: false
    }
  }

  /// Whether values of the type are addresses that JSON writes as text.
  var isText: Bool {
    switch kind {
    case .selector, .cString, .atom: true
    default: false
    }
  }

  /// The number of values without a size that a value of the type consists of, itself included; at
  /// most `Int32.max`.
  fileprivate var emptyValues: Int {
    let parts: Int
    switch kind {
    case .array(let count, let element), .vector(let count, let element):
      let (product, isTooLarge) = count.multipliedReportingOverflow(by: element.emptyValues)
      parts = isTooLarge ? .max : product
    case .structure(_, let members?), .union(_, let members?):
      parts = members.reduce(0) { $0 + $1.type.emptyValues }
    case .bitField(let width, _, _): parts = width == 0 ? 1 : 0
    default: parts = 0
    }
    let own = (try? layout.size) == 0 ? 1 : 0
    return min(parts, Int(Int32.max) - 1) + own
  }

  /// Whether a text is a number beyond the largest one of a floating-point type that refused it.
  func isTooLarge(_ text: String) -> Bool {
    guard case .scalar(let scalar) = kind, scalar.isFloatingPoint else { return false }
    return !Floats.isName(text) && Float(text)?.isInfinite ?? false
  }

  /// A hint for a correct value of the type.
  var valueHint: String {
    switch kind {
    case .scalar(.bool): "true or false is expected"
    case .scalar(let scalar) where scalar.isFloatingPoint: "a number is expected"
    case .scalar(let scalar): "an integer from \(Integers.range(scalar)) is expected"
    case .complex: "write an array of its real and imaginary part, such as [1, 0.5]"
    case .structure(_, let members?):
      "write a JSON array of \(members.count) value\(members.count == 1 ? "" : "s")"
    case .structure, .union: "write a JSON array with a value for its first member"
    case .array(let count, _): "write a JSON array of \(count) value\(count == 1 ? "" : "s")"
    case .void: "only null is expected"
    case .cString: "write text in quotes"
    case .selector: "write the name of a selector in quotes"
    default: "write 0 or an address such as 0x7f00"
    }
  }
}
