// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

// A number as any other of Swift. C computes; the layout of the bits is the same for all formats but
// for two counts and the leading bit, which x87 alone stores.

extension LongDouble {
  private static var leadingBits: Int { FWD_LONG_DOUBLE_LEADING_BITS }
  private static var exponentPlace: Int { significandBitCount + leadingBits }
  private static var signPlace: Int { exponentPlace + exponentBitCount }
  private static var significandMask: UInt128 { 1 << UInt128(significandBitCount) - 1 }
  private static var exponentMask: UInt { 1 << UInt(exponentBitCount) - 1 }
  private static var bias: Int { Int(exponentMask >> 1) }

  /// All bits of the format.
  static var allBits: UInt128 { signPlace == 127 ? .max : UInt128(1) << (signPlace + 1) - 1 }
}

extension LongDouble: BinaryFloatingPoint {
  public static var exponentBitCount: Int { FWD_LONG_DOUBLE_EXPONENT_BITS }
  public static var significandBitCount: Int { FWD_LONG_DOUBLE_SIGNIFICAND_BITS }

  public init(
    sign: FloatingPointSign, exponentBitPattern: UInt, significandBitPattern: UInt128
  ) {
    let exponent = exponentBitPattern & Self.exponentMask
    let leading: UInt128 = Self.leadingBits == 1 && exponent != 0 ? 1 << 63 : 0
    self.init(
      bitPattern: (sign == .minus ? 1 << UInt128(Self.signPlace) : 0)
        | UInt128(exponent) << UInt128(Self.exponentPlace) | leading
        | significandBitPattern & Self.significandMask)
  }

  public var sign: FloatingPointSign {
    bitPattern >> UInt128(Self.signPlace) & 1 == 0 ? .plus : .minus
  }
  public var exponentBitPattern: UInt {
    UInt(truncatingIfNeeded: bitPattern >> UInt128(Self.exponentPlace)) & Self.exponentMask
  }
  public var significandBitPattern: UInt128 { bitPattern & Self.significandMask }

  // MARK: Numbers

  public static var nan: LongDouble {
    LongDouble(
      sign: .plus, exponentBitPattern: exponentMask,
      significandBitPattern: 1 << UInt128(significandBitCount - 1))
  }
  public static var signalingNaN: LongDouble {
    LongDouble(
      sign: .plus, exponentBitPattern: exponentMask,
      significandBitPattern: 1 << UInt128(significandBitCount - 2))
  }
  public static var infinity: LongDouble {
    LongDouble(sign: .plus, exponentBitPattern: exponentMask, significandBitPattern: 0)
  }
  public static var greatestFiniteMagnitude: LongDouble {
    LongDouble(
      sign: .plus, exponentBitPattern: exponentMask - 1, significandBitPattern: significandMask)
  }
  public static var leastNormalMagnitude: LongDouble {
    LongDouble(sign: .plus, exponentBitPattern: 1, significandBitPattern: 0)
  }
  public static var leastNonzeroMagnitude: LongDouble {
    LongDouble(sign: .plus, exponentBitPattern: 0, significandBitPattern: 1)
  }
  /// The nearest number to π, as `Float80` and `Double` have it.
  public static var pi: LongDouble {
    // The bits of π behind its leading bit, 112 of them and a zero, rounded to those of the format.
    let fraction: UInt128 = 0x921F_B544_42D1_8469_898C_C517_01B8 << 1
    return LongDouble(
      sign: .plus, exponentBitPattern: UInt(bias + 1),
      significandBitPattern: (fraction >> UInt128(112 - significandBitCount) + 1) >> 1)
  }
  public static var ulpOfOne: LongDouble {
    LongDouble(
      sign: .plus, exponentBitPattern: UInt(bias - significandBitCount), significandBitPattern: 0)
  }

  // MARK: Parts

  public var exponent: Int {
    if isNaN || isInfinite { return .max }
    if isZero { return .min }
    if exponentBitPattern > 0 { return Int(exponentBitPattern) - Self.bias }
    // The leading bit of a subnormal number is its highest.
    return 127 - significandOfSubnormal.leadingZeroBitCount - Self.significandBitCount + 1
      - Self.bias
  }

  /// The significand with x87's leading bit, which a number without an exponent may have set.
  private var significandOfSubnormal: UInt128 {
    bitPattern & (1 << UInt128(Self.exponentPlace) - 1)
  }

  public var significand: LongDouble {
    if isNaN || isInfinite || isZero { return magnitude }
    if exponentBitPattern > 0 {
      return LongDouble(
        sign: .plus, exponentBitPattern: UInt(Self.bias),
        significandBitPattern: significandBitPattern)
    }
    let shift = Self.significandBitCount - 127 + significandOfSubnormal.leadingZeroBitCount
    return LongDouble(
      sign: .plus, exponentBitPattern: UInt(Self.bias),
      significandBitPattern: significandOfSubnormal << UInt128(shift))
  }

  public var binade: LongDouble {
    if isNaN || isInfinite { return .nan }
    if isZero { return self }
    return LongDouble(sign: sign, exponent: exponent, significand: 1)
  }

  public var significandWidth: Int {
    if isNaN || isInfinite || isZero { return -1 }
    let bits = significand.significandBitPattern
    return bits == 0 ? 0 : Self.significandBitCount - bits.trailingZeroBitCount
  }

  public init(sign: FloatingPointSign, exponent: Int, significand: LongDouble) {
    let limit = 4 * Self.bias
    let power = Int32(max(-limit, min(exponent, limit)))
    let number = sign == .minus ? -significand : significand
    self.init(fwd_long_double_scale(number.bits, power))
  }

  public init(signOf one: LongDouble, magnitudeOf other: LongDouble) {
    let signBit: UInt128 = 1 << UInt128(Self.signPlace)
    self.init(bitPattern: other.bitPattern & ~signBit | one.bitPattern & signBit)
  }

  public var magnitude: LongDouble { LongDouble(signOf: 0, magnitudeOf: self) }

  public var ulp: LongDouble {
    guard isFinite else { return .nan }
    let least = max(Int(exponentBitPattern), 1) - Self.significandBitCount
    if least > 0 {
      return LongDouble(sign: .plus, exponentBitPattern: UInt(least), significandBitPattern: 0)
    }
    return LongDouble(
      sign: .plus, exponentBitPattern: 0,
      significandBitPattern: 1 << UInt128(least + Self.significandBitCount - 1))
  }

  // MARK: Kinds

  public var isNaN: Bool { fwd_long_double_order(bits, bits) == .none }
  public var isInfinite: Bool {
    exponentBitPattern == Self.exponentMask && significandBitPattern == 0 && !isNaN
  }
  public var isFinite: Bool { exponentBitPattern != Self.exponentMask && !isNaN }
  public var isZero: Bool { fwd_long_double_order(bits, Self.zeroBits) == .equal }
  public var isNormal: Bool { isFinite && exponentBitPattern > 0 }
  public var isSubnormal: Bool { isFinite && exponentBitPattern == 0 && !isZero }
  public var isSignalingNaN: Bool {
    isNaN && significandBitPattern & Self.nan.significandBitPattern == 0
  }
  /// Whether the bits are those that the machine itself makes. x87 knows others, with a leading bit
  /// that contradicts the exponent.
  public var isCanonical: Bool {
    LongDouble(
      sign: sign, exponentBitPattern: exponentBitPattern,
      significandBitPattern: significandBitPattern
    ).bitPattern == bitPattern
  }

  private static var zeroBits: FWDLongDouble { FWDLongDouble(low: 0, high: 0) }

  // MARK: Comparison

  public func isEqual(to other: LongDouble) -> Bool {
    fwd_long_double_order(bits, other.bits) == .equal
  }
  public func isLess(than other: LongDouble) -> Bool {
    fwd_long_double_order(bits, other.bits) == .less
  }
  public func isLessThanOrEqualTo(_ other: LongDouble) -> Bool {
    let order = fwd_long_double_order(bits, other.bits)
    return order == .less || order == .equal
  }
  public func hash(into hasher: inout Hasher) {
    // Equal numbers have one nearest `Double`, whatever their bits.
    hasher.combine(Double(self))
  }

  // MARK: Arithmetic

  public static func + (one: LongDouble, other: LongDouble) -> LongDouble {
    LongDouble(fwd_long_double_add(one.bits, other.bits))
  }
  public static func - (one: LongDouble, other: LongDouble) -> LongDouble {
    LongDouble(fwd_long_double_subtract(one.bits, other.bits))
  }
  public static func * (one: LongDouble, other: LongDouble) -> LongDouble {
    LongDouble(fwd_long_double_multiply(one.bits, other.bits))
  }
  public static func / (one: LongDouble, other: LongDouble) -> LongDouble {
    LongDouble(fwd_long_double_divide(one.bits, other.bits))
  }
  public static func += (one: inout LongDouble, other: LongDouble) { one = one + other }
  public static func -= (one: inout LongDouble, other: LongDouble) { one = one - other }
  public static func *= (one: inout LongDouble, other: LongDouble) { one = one * other }
  public static func /= (one: inout LongDouble, other: LongDouble) { one = one / other }
  public static prefix func - (number: LongDouble) -> LongDouble {
    LongDouble(bitPattern: number.bitPattern ^ 1 << UInt128(signPlace))
  }
  public mutating func negate() { self = -self }

  public mutating func formRemainder(dividingBy other: LongDouble) {
    self = LongDouble(fwd_long_double_remainder(bits, other.bits))
  }
  public mutating func formTruncatingRemainder(dividingBy other: LongDouble) {
    self = LongDouble(fwd_long_double_truncating_remainder(bits, other.bits))
  }
  public mutating func formSquareRoot() { self = LongDouble(fwd_long_double_square_root(bits)) }
  public mutating func addProduct(_ one: LongDouble, _ other: LongDouble) {
    self = LongDouble(fwd_long_double_multiply_add(one.bits, other.bits, bits))
  }
  public var nextUp: LongDouble { LongDouble(fwd_long_double_next_up(bits)) }

  public mutating func round(_ rule: FloatingPointRoundingRule) {
    let rounding: FWDRounding =
      switch rule {
      case .toNearestOrAwayFromZero: .toNearestOrAwayFromZero
      case .toNearestOrEven: .toNearestOrEven
      case .up: .up
      case .down: .down
      case .towardZero: .towardZero
      case .awayFromZero: .awayFromZero
      @unknown default: .toNearestOrEven
      }
    self = LongDouble(fwd_long_double_round(bits, rounding))
  }
}

extension LongDouble: Strideable {
  public func distance(to other: LongDouble) -> LongDouble { other - self }
  public func advanced(by distance: LongDouble) -> LongDouble { self + distance }
}

extension LongDouble: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
  public init(floatLiteral value: Double) { self.init(value) }
  /// Makes the number that equals an integer. The conversions of the standard library begin with
  /// literals, so this uses none of them.
  public init(integerLiteral value: Int64) {
    let high = LongDouble(Double(value >> 32)) * LongDouble(4_294_967_296 as Double)
    self = high + LongDouble(Double(value & 0xFFFF_FFFF))
  }
}

extension Double {
  /// The nearest `Double` to a `long double`.
  public init(_ value: LongDouble) { self = fwd_long_double_to_double(value.bits) }
}
