// SPDX-License-Identifier: Apache-2.0
package import TypeEncodings

extension ValueCoder {
  /// Whether there is text at an address.
  package typealias IsText = (UInt) -> Bool

  /// Returns a value as JSON. Text is shown where `isText` returns true, but never in unions, whose
  /// memory may hold another member. Other addresses are shown as numbers.
  package static func value(
    of bytes: ArraySlice<UInt8>, _ type: TypeEncoding, _ isText: IsText = { _ in false }
  ) throws(InvocationTextError) -> JSONValue {
    var emptyLeft = max(4096, bytes.count)
    return try value(bytes, type, isText, &emptyLeft)
  }

  /// - Parameter emptyLeft: how many more values may take no memory: an encoding has any number of
  ///   them, and nested arrays multiply them.
  private static func value(
    _ bytes: ArraySlice<UInt8>, _ type: TypeEncoding, _ isText: IsText, _ emptyLeft: inout Int
  ) throws(InvocationTextError) -> JSONValue {
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
      let size = try layout(of: element).size
      if bytes.isEmpty { try take(max(count, 1), from: &emptyLeft, of: type) }
      var values: [JSONValue] = []
      for index in 0..<count {
        let part = bytes.dropFirst(index * size).prefix(size)
        values.append(try value(part, element, isText, &emptyLeft))
      }
      return .array(values)
    case .structure(_, let members?):
      return .array(try self.members(members, of: type, bytes, isText, &emptyLeft))
    case .union(_, let members?):
      return .array(try self.members(members, of: type, bytes, { _ in false }, &emptyLeft))
    default:
      let word = Integers.word(bytes)
      return word == 0 && type.isAddress ? .null : .string("0x" + String(word, radix: 16))
    }
  }

  /// Returns the current contents of memory that was allocated for a JSON array; nil for another
  /// address.
  package func contents(
    atPointer bytes: [UInt8], _ isText: IsText = { _ in false }
  ) throws(InvocationTextError) -> JSONValue? {
    let address = Integers.word(bytes)
    guard let (element, count) = pointed[address],
      let start = unsafe UnsafeRawPointer(bitPattern: address)
    else { return nil }
    let size = try Self.layout(of: element).size
    // SAFETY: `copy` allocated this block for `count` elements.
    let image = unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: size * count))
    var values: [JSONValue] = []
    for index in 0..<count {
      values.append(
        try Self.value(of: image.dropFirst(index * size).prefix(size), element, isText))
    }
    return .array(values)
  }

  private static func take(
    _ count: Int, from emptyLeft: inout Int, of type: TypeEncoding
  ) throws(InvocationTextError) {
    guard count <= emptyLeft else { throw InvocationTextError(.tooManyElements(type), at: 0) }
    emptyLeft -= count
  }

  private static func members(
    _ members: [TypeEncoding.Member], of type: TypeEncoding, _ bytes: ArraySlice<UInt8>,
    _ isText: IsText, _ emptyLeft: inout Int
  ) throws(InvocationTextError) -> [JSONValue] {
    var values: [JSONValue] = []
    for member in members {
      let bit = member.bitOffset ?? 0
      if case .bitField(let width, let storage?, _) = member.type.kind {
        if width == 0 { try take(1, from: &emptyLeft, of: type) }
        var bits: UInt128 = 0
        for index in 0..<width {
          let byte = bytes[bytes.startIndex + (bit + index) / 8]
          if byte >> UInt8((bit + index) % 8) & 1 == 1 { bits |= 1 << index }
        }
        values.append(
          storage == .bool
            ? .bool(bits != 0)
            : Integers.value(bits, width, isSigned: Integers.isSigned(storage)))
      } else {
        let size = try layout(of: member.type).size
        // An array counts its elements.
        if size == 0, !member.type.isArray { try take(1, from: &emptyLeft, of: type) }
        let part = bytes.dropFirst(bit / 8).prefix(size)
        values.append(try value(part, member.type, isText, &emptyLeft))
      }
    }
    return values
  }

  /// Returns the text at an address; null for address zero.
  static func text(at address: UInt) -> JSONValue {
    // SAFETY: the encoding says that a C string is there, and the code that set it guarantees that.
    guard let start = unsafe UnsafePointer<CChar>(bitPattern: address) else { return .null }
    return .string(unsafe String(cString: start))
  }

  private static func scalar(_ bytes: ArraySlice<UInt8>, _ scalar: Scalar) -> JSONValue {
    if scalar == .bool { return .bool(bytes.first != 0) }
    return scalar.isFloatingPoint ? Floats.value(bytes, scalar) : Integers.value(bytes, scalar)
  }
}
