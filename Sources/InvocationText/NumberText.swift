// SPDX-License-Identifier: Apache-2.0
import Invocations
package import TypeEncodings

/// Conversions of C integers between text and bytes.
package enum Integers {
  /// Parses a decimal number, or a hexadecimal one with `0x`, with an optional sign.
  package static func parse(_ text: String) -> Int128? { parse(text, as: Int128.self) }

  private static func parse<Value: FixedWidthInteger>(
    _ text: String, as type: Value.Type
  ) -> Value? {
    let isNegative = text.hasPrefix("-")
    let digits = isNegative || text.hasPrefix("+") ? text.dropFirst() : text[...]
    let isHex = digits.hasPrefix("0x") || digits.hasPrefix("0X")
    let plain = isHex ? digits.dropFirst(2) : digits
    guard let first = plain.first, first.isHexDigit else { return nil }
    return Value((isNegative ? "-" : "") + plain, radix: isHex ? 16 : 10)
  }

  static func bytes(_ text: String, _ scalar: Scalar) -> [UInt8]? {
    if scalar == .uint128 { return parse(text, as: UInt128.self).map(littleEndian) }
    guard let value = parse(text) else { return nil }
    switch scalar {
    case .int8: return Int8(exactly: value).map(littleEndian)
    case .uint8: return UInt8(exactly: value).map(littleEndian)
    case .int16: return Int16(exactly: value).map(littleEndian)
    case .uint16: return UInt16(exactly: value).map(littleEndian)
    case .int32: return Int32(exactly: value).map(littleEndian)
    case .uint32: return UInt32(exactly: value).map(littleEndian)
    case .int64, .long: return Int64(exactly: value).map(littleEndian)
    case .uint64, .unsignedLong: return UInt64(exactly: value).map(littleEndian)
    case .int128: return littleEndian(value)
    case .uint128, .bool, .float, .double, .longDouble: return nil
    }
  }

  package static func value(_ bytes: ArraySlice<UInt8>, _ scalar: Scalar) -> JSONValue {
    var bits: UInt128 = 0
    for (index, byte) in bytes.enumerated() { bits |= UInt128(byte) << (8 * index) }
    return value(bits, 8 * bytes.count, isSigned: isSigned(scalar))
  }

  /// Returns the number in the lowest `width` bits, at most 128.
  static func value(_ bits: UInt128, _ width: Int, isSigned: Bool) -> JSONValue {
    guard isSigned, width > 0 else { return .integer(bits) }
    let shift = 128 - width
    return .integer(Int128(truncatingIfNeeded: bits << shift) >> shift)
  }

  /// Returns a number as `width` bits; nil if it does not fit. Only 0 fits no bits.
  static func bits(_ text: String, _ width: Int, isSigned: Bool) -> UInt128? {
    guard let bytes = bytes(text, isSigned ? .int128 : .uint128) else { return nil }
    let bits = bytes.reversed().reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
    let shift = 128 - width
    // The number fits if shifting it up and down again does not change it.
    let again =
      isSigned
      ? UInt128(bitPattern: Int128(bitPattern: bits << shift) >> shift) : (bits << shift) >> shift
    return again == bits ? bits : nil
  }

  static func isSigned(_ scalar: Scalar) -> Bool {
    switch scalar {
    case .int8, .int16, .int32, .int64, .long, .int128: true
    case .uint8, .uint16, .uint32, .uint64, .unsignedLong, .uint128, .bool, .float, .double,
      .longDouble:
      false
    }
  }

  static func range(_ scalar: Scalar) -> String {
    let bits = scalar.size * 8
    if bits == 128 {
      return isSigned(scalar) ? "\(Int128.min) to \(Int128.max)" : "0 to \(UInt128.max)"
    }
    return isSigned(scalar)
      ? "\(-(Int128(1) << (bits - 1))) to \((Int128(1) << (bits - 1)) - 1)"
      : "0 to \((Int128(1) << bits) - 1)"
  }

  static func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  /// Returns an address from its bytes.
  static func word(_ bytes: ArraySlice<UInt8>) -> UInt {
    bytes.enumerated().reduce(0) { $0 | UInt($1.element) << (8 * $1.offset) }
  }
}

/// Conversions of C floating-point numbers between text and bytes.
package enum Floats {
  /// Whether a text is a name for a value that JSON cannot write in digits: `inf`, `-inf`, `nan`.
  static func isName(_ text: String) -> Bool {
    !text.contains { $0.isNumber } && Double(text).map { !$0.isFinite } ?? false
  }

  static func bytes(_ text: String, _ scalar: Scalar) -> [UInt8]? {
    switch scalar {
    case .float: return parse(text, Float.init).map { Integers.littleEndian($0.bitPattern) }
    case .double: return parse(text, Double.init).map { Integers.littleEndian($0.bitPattern) }
    case .longDouble:
      guard let value = LongDouble(text), isName("\(value)") == isName(text) else { return nil }
      return Array(Integers.littleEndian(value.bitPattern).prefix(scalar.size))
    default: return nil
    }
  }

  /// Parses a number. Digits whose value is too large for the type would become an infinity, which
  /// only a name means.
  private static func parse<Value: FloatingPoint>(
    _ text: String, _ number: (String) -> Value?
  ) -> Value? {
    guard let value = number(text), !value.isInfinite || isName(text) else { return nil }
    return value
  }

  package static func value(_ bytes: ArraySlice<UInt8>, _ scalar: Scalar) -> JSONValue {
    let word = Integers.word(bytes.prefix(8))
    switch scalar {
    case .float: return number("\(float(bytes))")
    case .double: return number("\(Double(bitPattern: UInt64(word)))")
    default:
      let rest = Integers.word(bytes.dropFirst(8).prefix(8))
      return number("\(LongDouble(bitPattern: UInt128(rest) << 64 | UInt128(word)))")
    }
  }

  static func float(_ bytes: ArraySlice<UInt8>) -> Float {
    Float(bitPattern: UInt32(truncatingIfNeeded: Integers.word(bytes.prefix(4))))
  }

  /// A float that C promoted to a double. A double that is no float is shown as it is.
  static func value(ofPromoted bytes: ArraySlice<UInt8>) -> JSONValue {
    let double = Double(bitPattern: UInt64(Integers.word(bytes.prefix(8))))
    return number(Float(exactly: double).map { "\($0)" } ?? "\(double)")
  }

  /// The text of a number. Infinities and NaNs become strings, because JSON has no numbers for them.
  private static func number(_ text: String) -> JSONValue {
    if isName(text) { return .string(text) }
    return .number(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
  }
}
