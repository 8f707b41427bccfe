package import Forwarding

/// A value that was typed and does not fit its type.
package struct ValueError: Error, CustomStringConvertible {
  package let description: String

  init(_ given: String, _ type: TypeEncoding, _ hint: String) {
    let shown = given.count > 60 ? given.prefix(59) + "…" : given
    description = "\(shown) is no value for \(type): \(hint)"
  }
}

/// Turns typed values into the bytes of C values and back, by their encoding.
///
/// Memory for strings and pointed-at arrays lives as long as the coder.
package final class ValueCoder {
  private var blocks: [UInt] = []
  /// Memory that a JSON array was put into for a pointer: its element type and count.
  package private(set) var pointed: [UInt: (element: TypeEncoding, count: Int)] = [:]

  package init() {}

  deinit {
    // SAFETY: `copy` allocated each of them, and nobody else frees them.
    for block in blocks { unsafe UnsafeMutableRawPointer(bitPattern: block)?.deallocate() }
  }

  // MARK: To bytes

  /// The bytes of an argument as it stands on the command line.
  package func bytes(ofArgument text: String, _ type: TypeEncoding) throws -> [UInt8] {
    switch type.kind {
    case .cString, .atom: return word(copy(Array(text.utf8) + [0]))
    case .selector: return word(try Selector(interning: text).address)
    case .array(_, let element): return try pointer(to: text, type, element)
    case .pointer(let pointee) where text.hasPrefix("["):
      return try pointer(to: text, type, pointee)
    case .structure, .union, .complex, .vector:
      guard let value = JSONReader.value(of: text) else {
        throw ValueError(text, type, "write a JSON array, such as [1,[2,3]]")
      }
      return try bytes(of: value, type)
    default: return try bytes(of: .number(text), type)
    }
  }

  private func pointer(
    to text: String, _ type: TypeEncoding, _ element: TypeEncoding
  ) throws -> [UInt8] {
    guard case .array(let values)? = JSONReader.value(of: text) else {
      throw ValueError(text, type, "write the elements as a JSON array")
    }
    // What cannot be measured cannot be shown after the call, not even if there is none of it.
    _ = try element.layout
    let image = try values.flatMap { try bytes(of: $0, element) }
    let address = copy(image)
    pointed[address] = (element, values.count)
    return word(address)
  }

  /// The bytes of a value inside a structure or array.
  private func bytes(of value: JSONValue, _ type: TypeEncoding) throws -> [UInt8] {
    switch (type.kind, value) {
    case (.scalar(let scalar), .number(let text)): return try number(text, scalar, type)
    case (.scalar(.bool), .bool(let flag)): return [flag ? 1 : 0]
    case (.complex(let scalar), .array(let parts)) where parts.count == 2:
      return try parts.flatMap { part -> [UInt8] in
        guard case .number(let text) = part else { throw ValueError("\(part)", type, "[re,im]") }
        return try number(text, scalar, type)
      }
    case (.cString, .string(let text)): return word(copy(Array(text.utf8) + [0]))
    case (.array(let count, let element), .array(let values)) where values.count == count:
      return try values.flatMap { try bytes(of: $0, element) }
    case (.structure(_, let members?), .array(let values)) where values.count == members.count:
      return try aggregate(type, Array(zip(members, values)))
    case (.union(_, let members?), .array(let values)) where values.count == 1 && !members.isEmpty:
      return try aggregate(type, [(members[0], values[0])])
    case (_, .number(let text)) where type.isAddress: return try address(text, type)
    case (_, .null) where type.isAddress: return word(0)
    default: throw ValueError("\(value)", type, type.valueHint)
    }
  }

  private func aggregate(
    _ type: TypeEncoding, _ parts: [(TypeEncoding.Member, JSONValue)]
  ) throws -> [UInt8] {
    var image = [UInt8](repeating: 0, count: try type.layout.size)
    for (member, value) in parts {
      guard let bit = member.bitOffset else {
        throw ValueError("\(value)", type, "its members' places are not known")
      }
      if case .bitField(let width, let storage?, _) = member.type.kind {
        try setBits(&image, bit, width, value, storage, member.type)
      } else {
        for (index, byte) in try bytes(of: value, member.type).enumerated() {
          image[bit / 8 + index] = byte
        }
      }
    }
    return image
  }

  private func setBits(
    _ image: inout [UInt8], _ bit: Int, _ width: Int, _ value: JSONValue, _ storage: Scalar,
    _ type: TypeEncoding
  ) throws {
    let bits: UInt128?
    switch value {
    case .number(let text): bits = Integers.bits(text, width, isSigned: Integers.isSigned(storage))
    case .bool(let flag): bits = width > 0 ? (flag ? 1 : 0) : nil
    default: bits = nil
    }
    guard let bits else {
      throw ValueError("\(value)", type, "an integer of \(width) bits is expected")
    }
    for index in 0..<width where (bits >> index) & 1 == 1 {
      image[(bit + index) / 8] |= 1 << UInt8((bit + index) % 8)
    }
  }

  private func number(
    _ text: String, _ scalar: Scalar, _ type: TypeEncoding
  ) throws -> [UInt8] {
    if scalar == .bool {
      switch text {
      case "0", "false": return [0]
      case "1", "true": return [1]
      default: throw ValueError(text, type, "true or false is expected")
      }
    }
    guard
      let bytes = scalar.isFloatingPoint ? Floats.bytes(text, scalar) : Integers.bytes(text, scalar)
    else { throw ValueError(text, type, type.valueHint) }
    return bytes
  }

  private func address(_ text: String, _ type: TypeEncoding) throws -> [UInt8] {
    let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? String(text.dropFirst(2)) : nil
    guard let value = digits.map({ UInt($0, radix: 16) }) ?? (text == "0" ? 0 : nil) else {
      throw ValueError(text, type, type.valueHint)
    }
    return word(value)
  }

  private func word(_ value: UInt) -> [UInt8] { Integers.littleEndian(value) }

  private func copy(_ bytes: [UInt8]) -> UInt {
    let block = UnsafeMutableRawPointer.allocate(byteCount: max(bytes.count, 16), alignment: 16)
    unsafe block.initializeMemory(as: UInt8.self, repeating: 0, count: max(bytes.count, 16))
    unsafe block.copyMemory(from: bytes, byteCount: bytes.count)
    blocks.append(UInt(bitPattern: block))
    return UInt(bitPattern: block)
  }

  // MARK: From bytes

  /// A value as JSON. C strings are read where they point; other pointers are only shown.
  package func value(of bytes: ArraySlice<UInt8>, _ type: TypeEncoding) throws -> JSONValue {
    switch type.kind {
    case .void, .unknown: return .null
    case .scalar(let scalar): return Self.scalar(bytes, scalar)
    case .complex(let scalar):
      let half = bytes.count / 2
      return .array([
        Self.scalar(bytes.prefix(half), scalar), Self.scalar(bytes.suffix(half), scalar),
      ])
    case .cString, .atom: return Self.text(at: Integers.word(bytes))
    case .array(let count, let element), .vector(let count, let element):
      let size = try element.layout.size
      // Elements of no size take no memory, and so there may be any number of them.
      guard size > 0 || count <= 4096 else {
        throw ValueError("an array", type, "it has more than 4096 empty elements")
      }
      return .array(
        try (0..<count).map {
          try value(of: bytes.dropFirst($0 * size).prefix(size), element)
        })
    case .structure(_, let members?), .union(_, let members?):
      return .array(try members.map { try member($0, bytes) })
    case .selector:
      return .string("0x" + String(Integers.word(bytes), radix: 16))
    default: return .string("0x" + String(Integers.word(bytes), radix: 16))
    }
  }

  private func member(
    _ member: TypeEncoding.Member, _ bytes: ArraySlice<UInt8>
  ) throws -> JSONValue {
    let bit = member.bitOffset ?? 0
    guard case .bitField(let width, let storage?, _) = member.type.kind else {
      let size = try member.type.layout.size
      return try value(of: bytes.dropFirst(bit / 8).prefix(size), member.type)
    }
    var bits: UInt128 = 0
    for index in 0..<width {
      let byte = bytes[bytes.startIndex + (bit + index) / 8]
      if byte >> UInt8((bit + index) % 8) & 1 == 1 { bits |= 1 << index }
    }
    if storage == .bool { return .bool(bits != 0) }
    return Integers.value(bits, width, isSigned: Integers.isSigned(storage))
  }

  /// What lies now in the memory that a JSON array was put into.
  package func contents(atPointer bytes: [UInt8]) throws -> JSONValue? {
    let address = Integers.word(bytes[...])
    guard let (element, count) = pointed[address],
      let start = unsafe UnsafeRawPointer(bitPattern: address)
    else { return nil }
    let size = try element.layout.size
    // SAFETY: `copy` made this block, which has room for `count` elements.
    let image = unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: size * count))
    return .array(
      try (0..<count).map { try value(of: image[($0 * size)..<(($0 + 1) * size)], element) })
  }

  private static func text(at address: UInt) -> JSONValue {
    // SAFETY: the encoding says that a C string is there; the user vouched for it.
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
  /// Whether a value of the type is an address.
  var isAddress: Bool {
    switch kind {
    case .pointer, .object, .block, .classReference, .selector, .cString, .atom: true
    default: false
    }
  }

  /// What to write in place of a wrong value.
  var valueHint: String {
    switch kind {
    case .scalar(.bool): "true or false is expected"
    case .scalar(let scalar) where scalar.isFloatingPoint: "a number is expected"
    case .scalar(let scalar): "an integer from \(Integers.range(scalar)) is expected"
    case .complex: "write [re,im]"
    case .structure(_, let members?): "write a JSON array of \(members.count) values"
    case .structure, .union: "write a JSON array with a value for its first member"
    case .array(let count, _): "write a JSON array of \(count) values"
    case .cString: "write text in quotes"
    default: "write 0, or an address such as 0x7f00"
    }
  }
}
