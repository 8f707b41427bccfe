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
      // Values without a size take no memory, so there may be any number of them, and nested arrays
      // multiply them.
      let (empty, isTooLarge) = count.multipliedReportingOverflow(by: element.emptyValues)
      guard !isTooLarge, empty <= 4096 + bytes.count else {
        throw InvocationTextError(.tooManyElements(type), at: 0)
      }
      return try elements(bytes, count, element, isText)
    case .structure(_, let members?): return try self.members(members, bytes, isText)
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
  ) throws(InvocationTextError) -> JSONValue? {
    let address = Integers.word(bytes)
    guard let (element, count) = pointed[address],
      let start = unsafe UnsafeRawPointer(bitPattern: address)
    else { return nil }
    let size = try Self.layout(of: element).size
    // SAFETY: `copy` allocated this block for `count` elements.
    let image = unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: size * count))
    return try Self.elements(image[...], count, element, isText)
  }

  private static func elements(
    _ bytes: ArraySlice<UInt8>, _ count: Int, _ element: TypeEncoding, _ isText: IsText
  ) throws(InvocationTextError) -> JSONValue {
    let size = try layout(of: element).size
    var values: [JSONValue] = []
    for index in 0..<count {
      values.append(try value(of: bytes.dropFirst(index * size).prefix(size), element, isText))
    }
    return .array(values)
  }

  private static func members(
    _ members: [TypeEncoding.Member], _ bytes: ArraySlice<UInt8>, _ isText: IsText
  ) throws(InvocationTextError) -> JSONValue {
    var values: [JSONValue] = []
    for member in members {
      let bit = member.bitOffset ?? 0
      if case .bitField(let width, let storage?, _) = member.type.kind {
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
        let part = bytes.dropFirst(bit / 8).prefix(try layout(of: member.type).size)
        values.append(try value(of: part, member.type, isText))
      }
    }
    return .array(values)
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

extension TypeEncoding {
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
    return min(parts, Int(Int32.max) - 1) + ((try? layout.size) == 0 ? 1 : 0)
  }
}
