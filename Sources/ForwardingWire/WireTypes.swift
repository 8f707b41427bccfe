// SPDX-License-Identifier: Apache-2.0
import TypeEncodings

/// Decodes arguments of a message that this process does not have, by the encoding of its types.
///
/// ```swift
/// let types = try WireTypes("v@:iB*")
/// let bytes: [UInt8] = [5, 0, 0, 0, 1, 2, 0, 0, 0, 0x68, 0x69]
/// try types.arguments(bytes)[2]          // "hi"
/// try types.arguments([5, 0, 0, 0, 2])   // throws: byte 4: a Bool is 0 or 1, but 2 is given
/// ```
///
/// The encoding may come from another process. Types that cannot be sent are refused. Each argument
/// is JSON in one line: nil is `null`, a `[UInt8]` is a string of hexadecimal digits, structures and
/// arrays are lists.
public struct WireTypes: Sendable {
  /// The encoding.
  public let encoding: String
  private let argumentTypes: [TypeEncoding]
  private let limits: WireLimits

  /// Parses the encoding of a method.
  ///
  /// - Throws: ``WireError`` if the encoding is invalid, exceeds a limit, or contains a type that
  ///   cannot be sent.
  public init(_ encoding: String, limits: WireLimits = WireLimits()) throws(WireError) {
    self.encoding = encoding
    self.limits = limits
    guard encoding.utf8.count <= WireLimits.encoding else {
      throw WireError(.limit(WireLimits.encoding, given: encoding.utf8.count), at: 0)
    }
    let signature: MethodSignature
    do { signature = try MethodSignature(method: encoding) } catch {
      throw WireError(.refused(.encoding(error)), at: error.offset)
    }
    guard signature.numberOfDeclaredArguments <= WireLimits.arguments else {
      throw WireError(
        .limit(WireLimits.arguments, given: signature.numberOfDeclaredArguments), at: 0)
    }
    argumentTypes = Array(signature.argumentTypes.dropFirst(2))
    for type in argumentTypes { try Self.check(type, limits) }
    if case .void = signature.resultType.kind { return }
    try Self.check(signature.resultType, limits)
  }

  /// Checks that a type can be sent.
  private static func check(_ type: TypeEncoding, _ limits: WireLimits) throws(WireError) {
    do throws(InterfaceError.Refusal) {
      switch type.kind {
      case .cString: break
      case .pointer(let pointee):
        guard case .structure(let name, nil) = pointee.kind, !name.isEmpty else { throw .local }
      default: _ = try NumberLayout(type, limits)
      }
    } catch {
      throw WireError(.value(type: "\(type)", "\(error)"), at: 0)
    }
  }

  /// Decodes arguments, which must take up all bytes.
  ///
  /// - Throws: ``WireError`` if the bytes are not arguments of these types.
  public func arguments(_ bytes: [UInt8]) throws(WireError) -> [String] {
    try WireReader.over(bytes[...]) { (reader) throws(WireError) in
      var values: [String] = []
      for type in argumentTypes { values.append(try value(type, &reader)) }
      try reader.finish()
      return values
    }
  }

  private func value(
    _ type: TypeEncoding, _ reader: inout WireReader
  ) throws(WireError) -> String {
    let start = reader.offset
    var values: [String] = []
    switch type.kind {
    case .scalar(let scalar): return try Self.number(scalar, &reader)
    case .cString: return try reader.optionalText(limits)?.quoted ?? "null"
    case .pointer:
      let bytes = try reader.countedBytes(limits)
      if "\(type)" == WirePlace.bytesSpelling {
        return "\"" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\""
      }
      try ValueJSON.check(bytes, limits, at: start)
      guard ValueJSON.isJSON(bytes) else {
        throw WireError(.value(type: "\(type)", "it is not JSON"), at: start)
      }
      // Control characters of ASCII are only between tokens.
      return String(decoding: bytes.map { max($0, 0x20) }, as: UTF8.self).visible
    case .structure(_, let members?):
      for member in members { values.append(try value(member.type, &reader)) }
    case .array(let count, let element):
      // Each element has bytes (NumberLayout), and missing bytes end the loop.
      for _ in 0..<count { values.append(try value(element, &reader)) }
    default: return "null"
    }
    return "[" + values.joined(separator: ",") + "]"
  }

  private static func number(
    _ scalar: Scalar, _ reader: inout WireReader
  ) throws(WireError) -> String {
    let start = reader.offset
    let bits = try reader.bytes(scalar.size).reversed().reduce(0) { $0 << 8 | UInt128($1) }
    switch scalar {
    case .bool:
      if bits > 1 { throw WireError(.notBool(UInt8(bits)), at: start) }
      return bits == 1 ? "true" : "false"
    case .int8, .int16, .int32, .long, .int64, .int128:
      let unused = 128 - 8 * scalar.size
      return "\((Int128(truncatingIfNeeded: bits) << unused) >> unused)"
    case .uint8, .uint16, .uint32, .unsignedLong, .uint64, .uint128: return "\(bits)"
    case .float, .double, .longDouble:
      let number =
        scalar == .float
        ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        : Double(bitPattern: UInt64(truncatingIfNeeded: bits))
      return number.isFinite ? "\(number)" : "\"\(number)\""
    }
  }
}
