// SPDX-License-Identifier: Apache-2.0
import Invocations
import TypeEncodings

/// Conversions of C integers between text and bytes.
enum Integers {
  /// Parses a decimal number, or a hexadecimal one with `0x`, with an optional sign.
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
    bits(text, scalar.size * 8, isSigned: isSigned(scalar)).map {
      Array(littleEndian($0).prefix(scalar.size))
    }
  }

  /// Returns a number as `width` bits; nil if it does not fit. Only 0 fits no bits.
  static func bits(_ text: String, _ width: Int, isSigned: Bool) -> UInt128? {
    let shift = 128 - width
    // The number fits if shifting it up and down again does not change it.
    if isSigned {
      guard let value = parse(text, as: Int128.self), (value << shift) >> shift == value else {
        return nil
      }
      return UInt128(bitPattern: value)
    }
    guard let value = parse(text, as: UInt128.self), (value << shift) >> shift == value else {
      return nil
    }
    return value
  }

  static func value(_ bytes: ArraySlice<UInt8>, _ scalar: Scalar) -> JSONValue {
    value(bits(bytes), 8 * bytes.count, isSigned: isSigned(scalar))
  }

  /// Returns the number in the lowest `width` bits, at most 128.
  static func value(_ bits: UInt128, _ width: Int, isSigned: Bool) -> JSONValue {
    isSigned ? .integer(signed(bits, width)) : .integer(bits)
  }

  /// Returns the number of a type of less than 128 bits.
  static func number(_ bytes: [UInt8], _ scalar: Scalar) -> Int128 {
    isSigned(scalar) ? signed(bits(bytes), 8 * bytes.count) : Int128(bits(bytes))
  }

  private static func signed(_ bits: UInt128, _ width: Int) -> Int128 {
    Int128(truncatingIfNeeded: bits << (128 - width)) >> (128 - width)
  }

  static func isSigned(_ scalar: Scalar) -> Bool {
    [.int8, .int16, .int32, .int64, .long, .int128].contains(scalar)
  }

  static func range(_ scalar: Scalar) -> String {
    let shift = 128 - scalar.size * 8
    return isSigned(scalar)
      ? "\(Int128.min >> shift) to \(Int128.max >> shift)" : "0 to \(UInt128.max >> shift)"
  }

  static func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  /// Returns the number in at most 16 bytes.
  static func bits(_ bytes: some Collection<UInt8>) -> UInt128 {
    bytes.enumerated().reduce(0) { $0 | UInt128($1.element) << (8 * $1.offset) }
  }

  /// Returns an address, or another word, from its bytes.
  static func word(_ bytes: some Collection<UInt8>) -> UInt {
    UInt(truncatingIfNeeded: bits(bytes.prefix(8)))
  }
}

/// Conversions of C floating-point numbers between text and bytes.
enum Floats {
  /// Whether a text is a name for a value that JSON cannot write in digits: `inf`, `-inf`, `nan`.
  static func isName(_ text: String) -> Bool {
    !text.contains { $0.isNumber } && Double(text).map { !$0.isFinite } ?? false
  }

  static func bytes(_ text: String, _ scalar: Scalar) -> [UInt8]? {
    // Digits whose value is too large for the type would become an infinity, which only a name means.
    switch scalar {
    case .float:
      guard let value = Float(text), !value.isInfinite || isName(text) else { return nil }
      return Integers.littleEndian(value.bitPattern)
    case .double:
      guard let value = Double(text), !value.isInfinite || isName(text) else { return nil }
      return Integers.littleEndian(value.bitPattern)
    default:
      guard let value = LongDouble(text), isName("\(value)") == isName(text) else { return nil }
      return Array(Integers.littleEndian(value.bitPattern).prefix(scalar.size))
    }
  }

  static func value(_ bytes: ArraySlice<UInt8>, _ scalar: Scalar) -> JSONValue {
    switch scalar {
    case .float: number("\(float(bytes))")
    case .double: number("\(double(bytes))")
    default: number("\(LongDouble(bitPattern: Integers.bits(bytes)))")
    }
  }

  static func float(_ bytes: some Collection<UInt8>) -> Float {
    Float(bitPattern: UInt32(truncatingIfNeeded: Integers.word(bytes)))
  }

  private static func double(_ bytes: some Collection<UInt8>) -> Double {
    Double(bitPattern: UInt64(Integers.word(bytes)))
  }

  /// A float that C promoted to a double. A double that is no float is shown as it is.
  static func value(ofPromoted bytes: [UInt8]) -> JSONValue {
    let double = double(bytes)
    return number(Float(exactly: double).map { "\($0)" } ?? "\(double)")
  }

  /// The text of a number. Infinities and NaNs become strings, because JSON has no numbers for them.
  private static func number(_ text: String) -> JSONValue {
    if isName(text) { return .string(text) }
    return .number(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
  }
}
