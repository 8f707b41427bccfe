// SPDX-License-Identifier: Apache-2.0
import Invocations
package import TypeEncodings

/// Converts between typed values and the bytes of C values, using type encodings.
///
/// Memory for strings and pointed-at arrays lives as long as the coder.
package final class ValueCoder {
  /// The memory that values may refer to.
  package enum Reach {
    /// Any address, and memory behind pointers; the caller guarantees that they are valid.
    case anywhere
    /// Text, and arrays with the length of their type. The coder owns their memory.
    case ownMemory
    /// No memory.
    case nothing
  }

  let reach: Reach
  private var blocks: [UInt] = []
  private(set) var texts: Set<UInt> = []
  /// The element type and count of each block that was allocated for a pointer.
  private(set) var pointed: [UInt: (element: TypeEncoding, count: Int)] = [:]

  /// Whether the coder must be retained for its memory.
  var isKeeper: Bool { !blocks.isEmpty }

  package init(reach: Reach = .anywhere) { self.reach = reach }

  deinit {
    // SAFETY: `copy` allocated each block, and only this coder frees it.
    for block in blocks { unsafe UnsafeMutableRawPointer(bitPattern: block)?.deallocate() }
  }

  // MARK: Arguments

  /// Converts an argument of a command line, where text, selectors and numbers have no quotes.
  package static func value(ofArgument text: String, _ type: TypeEncoding) throws(TextFault)
    -> JSONValue
  {
    switch type.kind {
    case .cString, .atom, .selector: return .string(text)
    case .array: return try list(text, .noElements(given: text, type: type))
    case .pointer where text.hasPrefix("["):
      return try list(text, .noElements(given: text, type: type))
    case .structure, .union, .complex, .vector:
      do { return try JSONReader.value(of: text) } catch {
        throw TextFault(.noStructure(given: text, type: type), at: 0)
      }
    case .scalar(.bool) where ["true", "1"].contains(text): return .bool(true)
    case .scalar(.bool) where ["false", "0"].contains(text): return .bool(false)
    default: return .number(text)
    }
  }

  private static func list(
    _ text: String, _ refusal: InvocationTextError.Reason
  ) throws(TextFault) -> JSONValue {
    guard let value = try? JSONReader.value(of: text), case .array = value.kind else {
      throw TextFault(refusal, at: 0)
    }
    return value
  }

  /// The bytes of an argument or a result.
  package func bytes(ofArgument value: JSONValue, _ type: TypeEncoding) throws(TextFault)
    -> [UInt8]
  {
    switch (type.kind, value.kind) {
    case (.selector, .string(let name)): return word(try selector(name, value.offset).address)
    case (.array(let count, let element), .array(let values)):
      guard reach == .anywhere || (reach == .ownMemory && values.count == count) else {
        throw TextFault(.noValue(given: "\(value)", type: type), at: value.offset)
      }
      return try pointer(to: values, element, value.offset)
    case (.array, _):
      throw TextFault(.noElements(given: "\(value)", type: type), at: value.offset)
    case (.pointer(let pointee), .array(let values)):
      guard reach == .anywhere else { throw unreachable(value, type) }
      return try pointer(to: values, pointee, value.offset)
    default: return try bytes(of: value, type)
    }
  }

  /// Returns the selector with a name. A name from untrusted text is only looked up, because
  /// interned names are never freed.
  func selector(_ name: String, _ offset: Int) throws(TextFault) -> Selector {
    if reach == .anywhere {
      do { return try Selector(interning: name) } catch {
        throw TextFault(.refused(error), at: offset)
      }
    }
    guard let known = Selector(existing: name) else {
      throw TextFault(.unknownSelector(name), at: offset)
    }
    return known
  }

  private func pointer(
    to values: [JSONValue], _ element: TypeEncoding, _ offset: Int
  ) throws(TextFault) -> [UInt8] {
    // A type without a known layout could not be shown after the call, not even for an empty array.
    _ = try TextFault.wrapping(at: offset) { () throws(TypeEncodingError) in try element.layout }
    var image: [UInt8] = []
    for value in values { image += try bytes(of: value, element) }
    let address = copy(image)
    pointed[address] = (element, values.count)
    return word(address)
  }

  // MARK: Parts

  /// The bytes of a value inside a structure or array.
  private func bytes(of value: JSONValue, _ type: TypeEncoding) throws(TextFault) -> [UInt8] {
    switch (type.kind, value.kind) {
    case (.scalar(let scalar), .number(let text)):
      return try number(text, scalar, type, value.offset)
    case (.scalar(let scalar), .string(let text)) where Floats.isName(text):
      return try number(text, scalar, type, value.offset)
    case (.scalar(.bool), .bool(let flag)): return [flag ? 1 : 0]
    case (.complex(let scalar), .array(let parts)) where parts.count == 2:
      return try bytes(of: parts[0], scalar, type) + bytes(of: parts[1], scalar, type)
    case (.cString, .string(let text)), (.atom, .string(let text)):
      return try self.text(text, type, value.offset)
    case (.array(let count, let element), .array(let values)) where values.count == count:
      var image: [UInt8] = []
      for value in values { image += try bytes(of: value, element) }
      return image
    case (.structure(_, let members?), .array(let values)) where values.count == members.count:
      return try aggregate(type, Array(zip(members, values)), value.offset)
    case (.union(_, let members?), .array(let values)) where values.count == 1 && !members.isEmpty:
      return try aggregate(type, [(members[0], values[0])], value.offset)
    case (_, .number(let text)) where type.isAddress:
      return try address(text, type, value)
    case (_, .null) where type.isAddress: return word(0)
    case _ where type.isAddress && !type.isText && reach != .anywhere:
      throw unreachable(value, type)
    default: throw TextFault(.noValue(given: "\(value)", type: type), at: value.offset)
    }
  }

  /// The bytes of a part of a complex number.
  private func bytes(
    of part: JSONValue, _ scalar: Scalar, _ type: TypeEncoding
  ) throws(TextFault) -> [UInt8] {
    switch part.kind {
    case .number(let text): return try number(text, scalar, type, part.offset)
    case .string(let text) where Floats.isName(text):
      return try number(text, scalar, type, part.offset)
    default: throw TextFault(.noValue(given: "\(part)", type: type), at: part.offset)
    }
  }

  private func aggregate(
    _ type: TypeEncoding, _ parts: [(TypeEncoding.Member, JSONValue)], _ offset: Int
  ) throws(TextFault) -> [UInt8] {
    let layout = try TextFault.wrapping(at: offset) { () throws(TypeEncodingError) in
      try type.layout
    }
    var image = [UInt8](repeating: 0, count: layout.size)
    for (member, value) in parts {
      guard let bit = member.bitOffset else {
        throw TextFault(.membersUnknown(given: "\(value)", type: type), at: value.offset)
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
  ) throws(TextFault) {
    let bits: UInt128?
    switch value.kind {
    case .number(let text): bits = Integers.bits(text, width, isSigned: Integers.isSigned(storage))
    case .bool(let flag): bits = !flag ? 0 : width > 0 ? 1 : nil
    default: bits = nil
    }
    guard let bits else {
      throw TextFault(.noBits(given: "\(value)", type: type, width: width), at: value.offset)
    }
    for index in 0..<width where (bits >> index) & 1 == 1 {
      image[(bit + index) / 8] |= 1 << UInt8((bit + index) % 8)
    }
  }

  private func number(
    _ text: String, _ scalar: Scalar, _ type: TypeEncoding, _ offset: Int
  ) throws(TextFault) -> [UInt8] {
    let bytes: [UInt8]? =
      switch scalar {
      case .bool: nil
      case let scalar where scalar.isFloatingPoint: Floats.bytes(text, scalar)
      default: Integers.bytes(text, scalar)
      }
    guard let bytes else { throw TextFault(.noValue(given: text, type: type), at: offset) }
    return bytes
  }

  private func address(
    _ text: String, _ type: TypeEncoding, _ value: JSONValue
  ) throws(TextFault) -> [UInt8] {
    let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? String(text.dropFirst(2)) : nil
    guard let address = digits.map({ UInt($0, radix: 16) }) ?? (text == "0" ? 0 : nil) else {
      if reach != .anywhere, !type.isText { throw unreachable(value, type) }
      throw TextFault(.noValue(given: text, type: type), at: value.offset)
    }
    guard address == 0 || reach == .anywhere else { throw unreachable(value, type) }
    return word(address)
  }

  /// The error for an address where addresses are not accepted.
  private func unreachable(_ value: JSONValue, _ type: TypeEncoding) -> TextFault {
    let isResult = reach == .nothing
    return TextFault(
      isResult ? .resultInMemory(type) : .address(given: "\(value)", type: type), at: value.offset)
  }

  private func text(
    _ text: String, _ type: TypeEncoding, _ offset: Int
  ) throws(TextFault) -> [UInt8] {
    guard reach != .nothing else { throw TextFault(.resultInMemory(type), at: offset) }
    guard !text.utf8.contains(0) else { throw TextFault(.embeddedNUL(type), at: offset) }
    let address = copy(Array(text.utf8) + [0])
    texts.insert(address)
    return word(address)
  }

  private func word(_ value: UInt) -> [UInt8] { Integers.littleEndian(value) }

  private func copy(_ bytes: [UInt8]) -> UInt {
    let block = UnsafeMutableRawPointer.allocate(byteCount: max(bytes.count, 16), alignment: 16)
    unsafe block.initializeMemory(as: UInt8.self, repeating: 0, count: max(bytes.count, 16))
    unsafe block.copyMemory(from: bytes, byteCount: bytes.count)
    blocks.append(UInt(bitPattern: block))
    return UInt(bitPattern: block)
  }
}
