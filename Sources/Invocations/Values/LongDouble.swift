// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// C's `long double`, with the same Swift code on every machine.
///
/// The type has the format of the machine's C compiler: 80 bits on x86-64, where it equals
/// `Float80`, and 128 bits (IEEE 754 `binary128`) on AArch64 Linux, where Swift has no type for it.
/// A value has 16 bytes on both.
///
/// ```swift
/// try unsafe functions.register("sqrtl", encoding: "DD", unsafeSymbolIn: Library("libm.so.6"))
/// try functions.call("sqrtl", LongDouble(2), returning: LongDouble.self)
/// ```
///
/// Every `Double`, `Float` and `Int64` has an exact value of this type, and every text the nearest one.
/// Conversions in the other direction round to nearest, are nil where they would lose something
/// (`Double(exactly:)`), or say what they lose:
///
/// ```swift
/// let tenth = LongDouble("0.1")!
/// let (double, lost) = tenth.rounded(to: Double.self)
/// LongDouble(double) + lost == tenth  // true
/// Double(exactly: tenth)              // nil
/// ```
///
/// A literal is read as a `Double` on every machine, so that `0.1` in source text has the digits of a
/// `Double`; a text has all digits of this type.
public struct LongDouble: Sendable, BitwiseCopyable {
  // The bits behind the last bit of the format may hold anything, as in memory of C. Two words have
  // the alignment of C as a vector; a `UInt128` would too, but Swift 6.3 passes it wrong to an
  // `async` closure on AArch64.
  private var storage: SIMD2<UInt64>

  /// Makes the number with these bits, from the lowest one of the significand on. Bits that the
  /// machine's format does not have are ignored.
  public init(bitPattern: UInt128) {
    storage = [
      UInt64(truncatingIfNeeded: bitPattern), UInt64(truncatingIfNeeded: bitPattern >> 64),
    ]
  }

  /// The bits of the number: 80 on x86-64, 128 on AArch64 Linux; the bits above them are zero.
  public var bitPattern: UInt128 {
    (UInt128(storage[1]) << 64 | UInt128(storage[0])) & Self.allBits
  }

  init(_ bits: FWDLongDouble) { storage = [bits.low, bits.high] }

  /// The bits for C.
  var bits: FWDLongDouble { FWDLongDouble(low: storage[0], high: storage[1]) }

  /// Makes the number that equals a `Double`.
  public init(_ value: Double) { self.init(fwd_long_double_from_double(value)) }

  /// Makes the number that equals a `Float`.
  public init(_ value: Float) { self.init(Double(value)) }

  /// Rounds to the nearest number of another type, and says what that loses.
  ///
  /// - Returns: The nearest number, and the difference: `value + lost` in this type is the number
  ///   again. A number beyond the range of the other type becomes infinite, and `lost` is then the
  ///   opposite infinity; for a NaN both are NaN.
  public func rounded<Number: BinaryFloatingPoint>(
    to type: Number.Type
  ) -> (value: Number, lost: LongDouble) {
    let value = Number(self)
    if isInfinite { return (value, 0) }
    return (value, self - LongDouble(value))
  }
}

extension LongDouble: BitwiseValue, ComplexPart {
  @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts { ValueFacts(.longDouble) }
  @unsafe
  public static func _complexFacts() -> ValueFacts { ValueFacts(.complexLongDouble) }
  public static var typeEncoding: String { "D" }
}

// MARK: Text

extension LongDouble: LosslessStringConvertible {
  /// Reads the number that is nearest to a decimal or hexadecimal text, `inf` or `nan`; nil for
  /// another text. A number beyond the range becomes infinite.
  public init?(_ description: String) {
    var text = description
    let bits = text.withUTF8 { utf8 -> FWDLongDouble? in
      var bits = FWDLongDouble()
      // SAFETY: the copy ends with a NUL.
      let copy = unsafe utf8.map { CChar(bitPattern: $0) } + [0]
      return unsafe fwd_long_double_read(copy, copy.count - 1, &bits) ? bits : nil
    }
    guard let bits else { return nil }
    self.init(bits)
  }

  /// The fewest digits that read back as the same number: `0.1`, `1e+30`, `inf`, `nan`.
  public var description: String {
    if isNaN { return sign == .minus ? "-nan" : "nan" }
    if isInfinite { return sign == .minus ? "-inf" : "inf" }
    let written = unsafe withUnsafeTemporaryAllocation(
      of: CChar.self, capacity: Int(FWD_LONG_DOUBLE_TEXT)
    ) { text in
      let length = unsafe fwd_long_double_write(bits, text.baseAddress.unsafelyUnwrapped)
      return unsafe String(decoding: text.prefix(length).map(UInt8.init), as: UTF8.self)
    }
    let parts = written.split(separator: "e")
    guard parts.count == 2, let exponent = Int(parts[1]) else { return written }
    let digits = parts[0].filter(\.isNumber)
    let isPlain = exponent >= -4 && magnitude <= Self.lastWhole
    return (sign == .minus ? "-" : "")
      + (isPlain ? Self.plain(digits, exponent) : Self.scientific(digits, exponent))
  }

  /// The first number whose digits do not reach the point.
  private static let lastWhole = LongDouble(
    sign: .plus, exponent: significandBitCount + 1, significand: 1)

  /// Digits with a point behind the digit that has the weight of 1.
  private static func plain(_ digits: String, _ exponent: Int) -> String {
    if exponent < 0 { return "0." + String(repeating: "0", count: -exponent - 1) + digits }
    let whole = digits.prefix(exponent + 1)
    let rest = digits.dropFirst(exponent + 1)
    return whole + String(repeating: "0", count: exponent + 1 - whole.count) + "."
      + (rest.isEmpty ? "0" : rest)
  }

  private static func scientific(_ digits: String, _ exponent: Int) -> String {
    let power = "\(exponent.magnitude)"
    return digits.prefix(1) + (digits.count > 1 ? "." + digits.dropFirst() : "")
      + (exponent < 0 ? "e-" : "e+") + (power.count < 2 ? "0" + power : power)
  }
}
