// SPDX-License-Identifier: Apache-2.0
import TypeEncodings

/// Decodes arguments of a message that this process does not have, by the encoding of its types.
///
/// ```swift
/// let types = try WireTypes("v@:iB*")
/// let bytes: [UInt8] = [5, 0, 0, 0, 1, 2, 0, 0, 0, 0x68, 0x69]
/// try types.arguments(bytes)             // [5, true, "hi"]
/// try types.arguments([5, 0, 0, 0, 2])   // throws: byte 4: a Bool is 0 or 1, but 2 is given
/// ```
///
/// The encoding may come from another process. Types that cannot be sent are refused.
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
        guard case .structure(let name, nil) = pointee.kind, !name.isEmpty else { throw .address }
      default: _ = try NumberLayout(type, limits)
      }
    } catch {
      throw WireError(.value(type: "\(type)", "\(error)"), at: 0)
    }
  }

  /// Decodes arguments, which must take up all bytes.
  ///
  /// - Throws: ``WireError`` if the bytes are not arguments of these types.
  public func arguments(_ bytes: [UInt8]) throws(WireError) -> [WireValue] {
    try WireReader.over(bytes[...]) { (reader) throws(WireError) in
      var values: [WireValue] = []
      for type in argumentTypes { values.append(try value(type, &reader)) }
      try reader.finish()
      return values
    }
  }

  private func value(
    _ type: TypeEncoding, _ reader: inout WireReader
  ) throws(WireError) -> WireValue {
    let start = reader.offset
    switch type.kind {
    case .scalar(let scalar): return try Self.number(scalar, &reader)
    case .cString:
      return try reader.optionalText(limits).map { .text($0) } ?? .none
    case .pointer:
      let bytes = try reader.countedBytes(limits)
      if "\(type)" == WirePlace.bytesSpelling { return .bytes(bytes) }
      try ValueJSON.check(bytes, limits, at: start)
      guard ValueJSON.isJSON(bytes) else {
        throw WireError(.value(type: "\(type)", "it is not JSON"), at: start)
      }
      return .json(String(decoding: bytes, as: UTF8.self))
    case .structure(_, let members?):
      var values: [WireValue] = []
      for member in members { values.append(try value(member.type, &reader)) }
      return .list(values)
    case .array(let count, let element):
      var values: [WireValue] = []
      // Each element has bytes (NumberLayout), and missing bytes end the loop.
      for _ in 0..<count { values.append(try value(element, &reader)) }
      return .list(values)
    default: return .none
    }
  }

  private static func number(
    _ scalar: Scalar, _ reader: inout WireReader
  ) throws(WireError) -> WireValue {
    let start = reader.offset
    let bits = try reader.bytes(scalar.size).reversed().reduce(0) { $0 << 8 | UInt128($1) }
    switch scalar {
    case .bool:
      if bits > 1 { throw WireError(.notBool(UInt8(bits)), at: start) }
      return .bool(bits == 1)
    case .int8, .int16, .int32, .long, .int64, .int128:
      let unused = 128 - 8 * scalar.size
      return .integer((Int128(truncatingIfNeeded: bits) << unused) >> unused)
    case .uint8, .uint16, .uint32, .unsignedLong, .uint64, .uint128:
      return Int128(exactly: bits).map { .integer($0) } ?? .unsigned(bits)
    case .float: return .number(Double(Float(bitPattern: UInt32(bits))))
    case .double: return .number(Double(bitPattern: UInt64(bits)))
    case .longDouble: return .none
    }
  }
}
