// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// C's `long double`, with the same Swift code on every machine: its bits, its text, and conversions.
///
/// The type has the format of the machine's C compiler: 80 bits on x86-64, where it converts to and
/// from `Float80`, and 128 bits (IEEE 754 `binary128`) on AArch64 Linux, where Swift has no type for
/// it. A value has 16 bytes on both.
///
/// ```swift
/// try unsafe functions.register("sqrtl", encoding: "DD", unsafeSymbolIn: Library("libm.so.6"))
/// let root = try functions.call("sqrtl", LongDouble(4), returning: LongDouble.self)
/// Double(root)  // 2.0
/// ```
///
/// Every `Double`, and every integer of 64 bits, has an exact value of this type; every text has the
/// nearest one. A conversion to a `Double` rounds to nearest. Two values are equal if their bits are.
/// The type does not compute: call a function of C, or convert.
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

  private static let allBits = UInt128.max >> UInt128(128 - FWD_LONG_DOUBLE_BITS)

  private init(_ bits: FWDLongDouble) { storage = [bits.low, bits.high] }

  /// The bits for C.
  fileprivate var bits: FWDLongDouble { FWDLongDouble(low: storage[0], high: storage[1]) }

  /// Makes the number that equals a `Double`.
  public init(_ value: Double) { self.init(fwd_long_double_from_double(value)) }

  /// Makes the number that equals an integer; nil if the significand has too few bits for it.
  init?<Integer: BinaryInteger>(exactly value: Integer) {
    let magnitude = UInt128(exactly: value.magnitude)
    guard let magnitude,
      128 - magnitude.leadingZeroBitCount - magnitude.trailingZeroBitCount
        <= FWD_LONG_DOUBLE_SIGNIFICAND_BITS
    else { return nil }
    self.init("\(value)")
  }
}

extension Double {
  /// Makes the nearest number to a `LongDouble`, which is infinite beyond the range.
  public init(_ value: LongDouble) { self = fwd_long_double_to_double(value.bits) }
}

#if arch(x86_64)
  extension LongDouble {
    /// Makes the number that equals a `Float80`. A literal is a `Double`.
    @_disfavoredOverload
    public init(_ value: Float80) {
      // The processor stores the leading bit of the significand, and Swift does not count it.
      let leading: UInt64 = value.exponentBitPattern == 0 ? 0 : 1 << 63
      self.init(
        bitPattern: UInt128(leading | value.significandBitPattern)
          | UInt128(value.exponentBitPattern) << 64 | (value.sign == .minus ? 1 << 79 : 0))
    }
  }

  extension Float80 {
    /// Makes the number that equals a `LongDouble`.
    public init(_ value: LongDouble) {
      self.init(
        sign: value.bitPattern >> 79 == 0 ? .plus : .minus,
        exponentBitPattern: UInt(truncatingIfNeeded: value.bitPattern >> 64) & 0x7FFF,
        significandBitPattern: UInt64(truncatingIfNeeded: value.bitPattern) & (1 << 63 - 1))
    }
  }
#endif

extension LongDouble: Hashable {
  public static func == (one: LongDouble, other: LongDouble) -> Bool {
    one.bitPattern == other.bitPattern
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(bitPattern) }
}

// MARK: Text

extension LongDouble: LosslessStringConvertible {
  /// Reads the number that is nearest to a decimal or hexadecimal text, `inf` or `nan`; nil for
  /// another text. A number beyond the range becomes infinite.
  public init?(_ description: String) {
    var bits = FWDLongDouble()
    // SAFETY: C retains no address.
    guard unsafe fwd_long_double_read(description, description.utf8.count, &bits) else {
      return nil
    }
    self.init(bits)
  }

  /// The fewest digits that read back as the same number: `0.1`, `1e+30`, `inf`, `nan`.
  public var description: String {
    let written = unsafe withUnsafeTemporaryAllocation(
      of: CChar.self, capacity: Int(FWD_LONG_DOUBLE_TEXT)
    ) { text in
      let length = unsafe fwd_long_double_write(bits, text.baseAddress.unsafelyUnwrapped)
      return unsafe String(decoding: text.prefix(length).map(UInt8.init), as: UTF8.self)
    }
    // Of a whole number C writes no point.
    return written.contains { ".en".contains($0) } ? written : written + ".0"
  }
}
