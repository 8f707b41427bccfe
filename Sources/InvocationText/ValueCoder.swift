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

  private let reach: Reach
  private var blocks: [UInt] = []
  private var texts: Set<UInt> = []
  /// The element type and count of each block that was allocated for a pointer.
  private(set) var pointed: [UInt: (element: TypeEncoding, count: Int)] = [:]

  /// Whether the coder must be retained for its memory.
  var isKeeper: Bool { !blocks.isEmpty }

  /// Whether this coder allocated text at an address.
  package func isOwnText(_ address: UInt) -> Bool { texts.contains(address) }

  package init(reach: Reach = .anywhere) { self.reach = reach }

  deinit {
    // SAFETY: `copy` allocated each block, and only this coder frees it.
    for block in blocks { unsafe UnsafeMutableRawPointer(bitPattern: block)?.deallocate() }
  }

  // MARK: Arguments

  /// Converts an argument of a command line, where text, selectors and numbers have no quotes.
  package static func value(
    ofArgument text: String, _ type: TypeEncoding
  ) -> JSONValue {
    switch type.kind {
    case .cString, .atom, .selector: return .string(text)
    case .scalar(.bool) where ["0", "1"].contains(text): return .bool(text == "1")
    default: return (try? JSONReader.value(of: text)) ?? .number(text)
    }
  }

  /// The bytes of an argument or a result.
  package func bytes(
    ofArgument value: JSONValue, _ type: TypeEncoding
  ) throws(InvocationTextError) -> [UInt8] {
    switch (type.kind, value.kind) {
    case (.selector, .string(let name)):
      return Integers.littleEndian(try selector(name, value.offset).address)
    case (.array(let count, let element), .array(let values)):
      guard reach == .anywhere || (reach == .ownMemory && values.count == count) else {
        throw Self.noValue(value, type)
      }
      return try pointer(to: values, element, value.offset)
    case (.array, _): throw Self.noValue(value, type)
    case (.pointer(let pointee), .array(let values)):
      guard reach == .anywhere else { throw unreachable(value, type) }
      return try pointer(to: values, pointee, value.offset)
    default: return try bytes(of: value, type)
    }
  }

  /// Returns the selector with a name. A name from untrusted text is only looked up, because
  /// interned names are never freed.
  func selector(_ name: String, _ offset: Int) throws(InvocationTextError) -> Selector {
    if reach == .anywhere {
      do { return try Selector(interning: name) } catch { throw .refused(error, at: offset) }
    }
    guard let known = Selector(existing: name) else {
      throw InvocationTextError(.unknownSelector(name), at: offset)
    }
    return known
  }

  private func pointer(
    to values: [JSONValue], _ element: TypeEncoding, _ offset: Int
  ) throws(InvocationTextError) -> [UInt8] {
    // A type without a known layout could not be shown after the call, not even for an empty array.
    _ = try Self.layout(of: element, at: offset)
    let address = copy(try bytes(of: values, element))
    pointed[address] = (element, values.count)
    return Integers.littleEndian(address)
  }

  // MARK: Parts

  /// The bytes of a value inside a structure or array.
  private func bytes(
    of value: JSONValue, _ type: TypeEncoding
  ) throws(InvocationTextError) -> [UInt8] {
    switch (type.kind, value.kind) {
    case (.scalar(let scalar), _): return try number(value, scalar, type)
    case (.complex(let scalar), .array(let parts)) where parts.count == 2:
      return try number(parts[0], scalar, type) + number(parts[1], scalar, type)
    case (.cString, .string(let text)), (.atom, .string(let text)):
      return try self.text(text, type, value.offset)
    case (.array(let count, let element), .array(let values)) where values.count == count:
      return try bytes(of: values, element)
    case (.structure(_, let members?), .array(let values)) where values.count == members.count:
      return try aggregate(type, Array(zip(members, values)), value.offset)
    case (.union(_, let members?), .array(let values)) where values.count == 1 && !members.isEmpty:
      return try aggregate(type, [(members[0], values[0])], value.offset)
    case (_, .number(let text)) where type.isAddress: return try address(text, type, value)
    case (_, .null) where type.isAddress: return Integers.littleEndian(UInt(0))
    case _ where type.isAddress && !type.isText && reach != .anywhere:
      throw unreachable(value, type)
    default: throw Self.noValue(value, type)
    }
  }

  private func bytes(
    of values: [JSONValue], _ element: TypeEncoding
  ) throws(InvocationTextError) -> [UInt8] {
    var image: [UInt8] = []
    for value in values { image += try bytes(of: value, element) }
    return image
  }

  /// The bytes of a number, or of a part of a complex number.
  private func number(
    _ value: JSONValue, _ scalar: Scalar, _ type: TypeEncoding
  ) throws(InvocationTextError) -> [UInt8] {
    let bytes: [UInt8]?
    switch value.kind {
    case .bool(let flag) where scalar == .bool: return [flag ? 1 : 0]
    case _ where scalar == .bool: bytes = nil
    case .number(let text),
      .string(let text) where Floats.isName(text):
      bytes = scalar.isFloatingPoint ? Floats.bytes(text, scalar) : Integers.bytes(text, scalar)
    default: bytes = nil
    }
    guard let bytes else { throw Self.noValue(value, type) }
    return bytes
  }

  private func aggregate(
    _ type: TypeEncoding, _ parts: [(TypeEncoding.Member, JSONValue)], _ offset: Int
  ) throws(InvocationTextError) -> [UInt8] {
    var image = [UInt8](repeating: 0, count: try Self.layout(of: type, at: offset).size)
    for (member, value) in parts {
      guard let bit = member.bitOffset else { throw Self.noValue(value, type) }
      if case .bitField(let width, let storage?, _) = member.type.kind {
        let isSigned = Integers.isSigned(storage)
        let bits: UInt128? =
          switch value.kind {
          case .number(let text): Integers.bits(text, width, isSigned: isSigned)
          case .bool(let flag): !flag ? 0 : width > 0 ? 1 : nil
          default: nil
          }
        guard let bits else { throw Self.noValue(value, member.type) }
        for index in 0..<width where (bits >> index) & 1 == 1 {
          image[(bit + index) / 8] |= 1 << UInt8((bit + index) % 8)
        }
      } else {
        let bytes = try bytes(of: value, member.type)
        image.replaceSubrange(bit / 8..<bit / 8 + bytes.count, with: bytes)
      }
    }
    return image
  }

  private func address(
    _ text: String, _ type: TypeEncoding, _ value: JSONValue
  ) throws(InvocationTextError) -> [UInt8] {
    let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? String(text.dropFirst(2)) : nil
    guard let address = digits.map({ UInt($0, radix: 16) }) ?? (text == "0" ? 0 : nil) else {
      if reach != .anywhere, !type.isText { throw unreachable(value, type) }
      throw Self.noValue(value, type)
    }
    guard address == 0 || reach == .anywhere else { throw unreachable(value, type) }
    return Integers.littleEndian(address)
  }

  private func text(
    _ text: String, _ type: TypeEncoding, _ offset: Int
  ) throws(InvocationTextError) -> [UInt8] {
    guard reach != .nothing else { throw InvocationTextError(.resultInMemory(type), at: offset) }
    let address = copy(Array(try Self.checked(text, type, offset).utf8) + [0])
    texts.insert(address)
    return Integers.littleEndian(address)
  }

  private func copy(_ bytes: [UInt8]) -> UInt {
    let block = UnsafeMutableRawPointer.allocate(byteCount: max(bytes.count, 16), alignment: 16)
    unsafe block.initializeMemory(as: UInt8.self, repeating: 0, count: max(bytes.count, 16))
    unsafe block.copyMemory(from: bytes, byteCount: bytes.count)
    blocks.append(UInt(bitPattern: block))
    return UInt(bitPattern: block)
  }

  // MARK: Errors

  /// Text for C, which has no NUL in it.
  static func checked(
    _ text: String, _ type: TypeEncoding, _ offset: Int
  ) throws(InvocationTextError) -> String {
    guard !text.utf8.contains(0) else { throw InvocationTextError(.embeddedNUL(type), at: offset) }
    return text
  }

  /// The layout of a type, or the error that it has none.
  static func layout(
    of type: TypeEncoding, at offset: Int = 0
  ) throws(InvocationTextError) -> TypeLayout {
    do { return try type.layout } catch {
      throw .refused(.encoding(error), at: offset)
    }
  }

  private static func noValue(_ value: JSONValue, _ type: TypeEncoding) -> InvocationTextError {
    InvocationTextError(.noValue(given: "\(value)", type: type), at: value.offset)
  }

  /// The error for an address where addresses are not accepted.
  private func unreachable(_ value: JSONValue, _ type: TypeEncoding) -> InvocationTextError {
    let isResult = reach == .nothing
    return InvocationTextError(
      isResult ? .resultInMemory(type) : .address(given: "\(value)", type: type), at: value.offset)
  }
}

extension TypeEncoding {
  /// Whether values of the type are C strings.
  var isCText: Bool { [.cString, .atom].contains(kind) }

  /// Whether values of the type are addresses that JSON writes as text.
  fileprivate var isText: Bool { isCText || kind == .selector }

  /// Whether values of the type are addresses.
  var isAddress: Bool {
    switch kind {
    case .pointer, .object, .block, .classReference: true
    default: isText
    }
  }
}
