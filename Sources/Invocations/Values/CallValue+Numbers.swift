// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// A number of C that travels in one word.
///
/// ```swift
/// Int32(-1).word == UInt64.max  // true
/// Int8(word: 0x1FF)             // -1
/// Bool(word: 2)                 // true
/// ```
public protocol WordValue: CallValue {
  /// The value, widened to eight bytes as the callee expects it.
  var word: UInt64 { get }
  /// Makes the value from the low bytes of a word. The high bytes may hold anything.
  init(word: UInt64)
}

extension WordValue {
  @inlinable @unsafe
  public func store(in slot: ValueSlot) throws(InvocationError) { slot.word = word }

  @inlinable @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Self {
    Self(word: slot.word)
  }
}

extension WordValue where Self: FixedWidthInteger & SignedInteger {
  @inlinable
  public var word: UInt64 { UInt64(bitPattern: Int64(truncatingIfNeeded: self)) }

  @inlinable
  public init(word: UInt64) { self.init(truncatingIfNeeded: word) }
}

extension WordValue where Self: FixedWidthInteger & UnsignedInteger {
  @inlinable
  public var word: UInt64 { UInt64(truncatingIfNeeded: self) }

  @inlinable
  public init(word: UInt64) { self.init(truncatingIfNeeded: word) }
}

extension Int8: WordValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .word(.int8) }
  public static var typeEncoding: String { "c" }
}

extension UInt8: WordValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .word(.uInt8) }
  public static var typeEncoding: String { "C" }
}

extension Int16: WordValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .word(.int16) }
  public static var typeEncoding: String { "s" }
}

extension UInt16: WordValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .word(.uInt16) }
  public static var typeEncoding: String { "S" }
}

extension Int32: WordValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .word(.int32) }
  public static var typeEncoding: String { "i" }
}

extension UInt32: WordValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .word(.uInt32) }
  public static var typeEncoding: String { "I" }
}

extension Int64: WordValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .word(.int64) }
  public static var typeEncoding: String { "q" }
}

extension UInt64: WordValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .word(.uInt64) }
  public static var typeEncoding: String { "Q" }
}

extension Int: WordValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .word(.int64) }
  public static var typeEncoding: String { "q" }
}

extension UInt: WordValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .word(.uInt64) }
  public static var typeEncoding: String { "Q" }
}

extension Bool: WordValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .word(.bool) }
  public static var typeEncoding: String { "B" }
  @inlinable public var word: UInt64 { self ? 1 : 0 }
  /// Every byte but 0 is true, because C code that returns 2 for a `_Bool` must not produce an
  /// invalid Swift `Bool`.
  @inlinable public init(word: UInt64) { self = word & 0xFF != 0 }
}

extension Float: WordValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .word(.float) }
  public static var typeEncoding: String { "f" }
  @inlinable public var word: UInt64 { UInt64(bitPattern) }
  @inlinable public init(word: UInt64) { self.init(bitPattern: UInt32(truncatingIfNeeded: word)) }

  /// A `float` behind the `...` of a variadic function is passed as a `double`.
  @inlinable @unsafe
  public func store(in slot: ValueSlot) throws(InvocationError) {
    slot.word = slot.kind == Double.valueKind ? Double(self).bitPattern : word
  }

  @inlinable @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Float {
    slot.kind == Double.valueKind ? Float(Double(word: slot.word)) : Float(word: slot.word)
  }
}

extension Double: WordValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .word(.double) }
  public static var typeEncoding: String { "d" }
  @inlinable public var word: UInt64 { bitPattern }
  @inlinable public init(word: UInt64) { self.init(bitPattern: word) }
}

/// A number of more than one word, stored as its bytes.
///
/// ```swift
/// try functions.register("next") { (number: Int128) in number + 1 }
/// try functions.call("next", Int128(41), returning: Int128.self)  // 42
/// ```
public protocol BitwiseValue: CallValue, BitwiseCopyable {}

extension BitwiseValue {
  @inlinable @unsafe
  public func store(in slot: ValueSlot) throws(InvocationError) { slot.store(bytesOf: self) }

  @inlinable @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Self {
    // SAFETY: every bit pattern is a valid number.
    unsafe slot.load(bytesAs: Self.self)
  }
}

extension Int128: BitwiseValue {
  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts { ValueFacts(.int128) }
  public static var typeEncoding: String { "t" }
}

extension UInt128: BitwiseValue {
  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts { ValueFacts(.uInt128) }
  public static var typeEncoding: String { "T" }
}

#if arch(x86_64)
  /// C's `long double` on this platform.
  extension Float80: BitwiseValue {
    @inlinable @unsafe
    public static func _callFacts(_ depth: Int) -> ValueFacts { ValueFacts(.longDouble) }
    public static var typeEncoding: String { "D" }
  }
#endif

/// A C `_Complex` number: the real part, then the imaginary part.
///
/// ```swift
/// try unsafe functions.register("cabs", encoding: "djd", unsafeSymbolIn: Library("libm.so.6"))
/// try functions.call("cabs", ComplexValue(3.0, 4.0), returning: Double.self)  // 5.0
/// ```
public struct ComplexValue<Part: ComplexPart>: Hashable, Sendable, BitwiseCopyable {
  /// The real part.
  public var real: Part
  /// The imaginary part.
  public var imaginary: Part

  /// Makes a number from its parts.
  public init(_ real: Part, _ imaginary: Part) {
    self.real = real
    self.imaginary = imaginary
  }
}

/// A floating-point type that can be a part of a complex number.
///
/// ```swift
/// ComplexValue<Float>.typeEncoding   // jf
/// ComplexValue<Double>.typeEncoding  // jd
/// ```
public protocol ComplexPart: CallValue, Hashable, BitwiseCopyable, Sendable {}

extension Float: ComplexPart {}

extension Double: ComplexPart {}

#if arch(x86_64)
  extension Float80: ComplexPart {}
#endif

extension ComplexValue: CallValue, BitwiseValue {
  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts {
    if Part.self == Float.self { return ValueFacts(.complexFloat) }
    if Part.self == Double.self { return ValueFacts(.complexDouble) }
    #if arch(x86_64)
      if Part.self == Float80.self { return ValueFacts(.complexLongDouble) }
    #endif
    // A part of another module may have other bytes than its carrier.
    return Part.self == LongDouble.self ? ValueFacts(.complexLongDouble) : .unfit
  }
  public static var typeEncoding: String { "j" + Part.typeEncoding }
}
