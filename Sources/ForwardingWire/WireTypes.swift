// SPDX-License-Identifier: Apache-2.0
import TypeEncodings

/// Decodes values of a message that this process does not have, by the encoding of its types.
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
  private let resultType: TypeEncoding?
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
    if case .void = signature.resultType.kind {
      resultType = nil
    } else {
      resultType = signature.resultType
    }
    argumentTypes = Array(signature.argumentTypes.dropFirst(2))
    for type in argumentTypes + [resultType].compactMap({ $0 }) { try Self.check(type, limits) }
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
    try read(bytes, argumentTypes)
  }

  /// Decodes a result, which must take up all bytes.
  ///
  /// - Throws: ``WireError`` if the bytes are not a result of this type.
  public func result(_ bytes: [UInt8]) throws(WireError) -> WireValue {
    try read(bytes, [resultType].compactMap { $0 }).first ?? .none
  }

  private func read(
    _ bytes: [UInt8], _ types: [TypeEncoding]
  ) throws(WireError) -> [WireValue] {
    try WireReader.over(bytes) { (reader) throws(WireError) in
      var values: [WireValue] = []
      for type in types { values.append(try value(type, &reader)) }
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
      // NumberLayout limits the lists without bytes, and missing bytes end the loop.
      for _ in 0..<count { values.append(try value(element, &reader)) }
      return .list(values)
    default: return .none
    }
  }

  private static func number(
    _ scalar: Scalar, _ reader: inout WireReader
  ) throws(WireError) -> WireValue {
    let start = reader.offset
    switch scalar {
    case .bool:
      let byte = try reader.byte()
      if byte > 1 { throw WireError(.notBool(byte), at: start) }
      return .bool(byte == 1)
    case .int8: return try .integer(Int128(Int8(bitPattern: reader.byte())))
    case .uint8: return try .integer(Int128(reader.byte()))
    case .int16: return try .integer(Int128(Int16(bitPattern: reader.uint16())))
    case .uint16: return try .integer(Int128(reader.uint16()))
    case .int32: return try .integer(Int128(Int32(bitPattern: reader.uint32())))
    case .uint32: return try .integer(Int128(reader.uint32()))
    case .long, .int64: return try .integer(Int128(Int64(bitPattern: reader.uint64())))
    case .unsignedLong, .uint64: return try .integer(Int128(reader.uint64()))
    case .int128, .uint128:
      let (low, high) = try (reader.uint64(), reader.uint64())
      let number = UInt128(high) << 64 | UInt128(low)
      if scalar == .int128 { return .integer(Int128(truncatingIfNeeded: number)) }
      return Int128(exactly: number).map { .integer($0) } ?? .unsigned(number)
    case .float: return try .number(Double(Float(bitPattern: reader.uint32())))
    case .double: return try .number(Double(bitPattern: reader.uint64()))
    case .longDouble: return .none
    }
  }
}
