public import CForwardingShims

/// A number of C that travels in one word.
public protocol WordValue: CallValue {
  /// The value, widened to eight bytes as the callee expects it.
  var word: UInt64 { get }
  /// Takes the value from the low bytes of a word; the high ones may hold anything.
  init(word: UInt64)
}

extension WordValue {
  @inlinable
  public static var _isPlainWord: Bool { true }

  @inlinable
  public func store(in slot: ValueSlot) throws(InvocationError) { slot.word = word }

  @inlinable
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
  public static var typeEncoding: String { "c" }
  public static var _word: _WordLayout? { .integer(Self.self) }
  @inlinable public static var valueKind: ValueKind { ValueKind(raw: .int8) }
}

extension UInt8: WordValue {
  public static var typeEncoding: String { "C" }
  public static var _word: _WordLayout? { .integer(Self.self) }
  @inlinable public static var valueKind: ValueKind { ValueKind(raw: .uInt8) }
}

extension Int16: WordValue {
  public static var typeEncoding: String { "s" }
  public static var _word: _WordLayout? { .integer(Self.self) }
  @inlinable public static var valueKind: ValueKind { ValueKind(raw: .int16) }
}

extension UInt16: WordValue {
  public static var typeEncoding: String { "S" }
  public static var _word: _WordLayout? { .integer(Self.self) }
  @inlinable public static var valueKind: ValueKind { ValueKind(raw: .uInt16) }
}

extension Int32: WordValue {
  public static var typeEncoding: String { "i" }
  public static var _word: _WordLayout? { .integer(Self.self) }
  @inlinable public static var valueKind: ValueKind { ValueKind(raw: .int32) }
}

extension UInt32: WordValue {
  public static var typeEncoding: String { "I" }
  public static var _word: _WordLayout? { .integer(Self.self) }
  @inlinable public static var valueKind: ValueKind { ValueKind(raw: .uInt32) }
}

extension Int64: WordValue {
  public static var typeEncoding: String { "q" }
  public static var _word: _WordLayout? { .integer(Self.self) }
  @inlinable public static var valueKind: ValueKind { ValueKind(raw: .int64) }
}

extension UInt64: WordValue {
  public static var typeEncoding: String { "Q" }
  public static var _word: _WordLayout? { .integer(Self.self) }
  @inlinable public static var valueKind: ValueKind { ValueKind(raw: .uInt64) }
}

extension Int: WordValue {
  public static var typeEncoding: String { "q" }
  public static var _word: _WordLayout? { .integer(Self.self) }
  @inlinable public static var valueKind: ValueKind { ValueKind(raw: .int64) }
}

extension UInt: WordValue {
  public static var typeEncoding: String { "Q" }
  public static var _word: _WordLayout? { .integer(Self.self) }
  @inlinable public static var valueKind: ValueKind { ValueKind(raw: .uInt64) }
}

extension Bool: WordValue {
  public static var _word: _WordLayout? { _WordLayout(raw: .bool) }
  public static var typeEncoding: String { "B" }
  @inlinable public static var valueKind: ValueKind { ValueKind(raw: .bool) }
  @inlinable public var word: UInt64 { self ? 1 : 0 }
  /// Any byte but 0 is true: C code that returns 2 for a `_Bool` must not break Swift's.
  @inlinable public init(word: UInt64) { self = word & 0xFF != 0 }
}

extension Float: WordValue {
  public static var _word: _WordLayout? { _WordLayout(raw: .uInt32) }
  public static var typeEncoding: String { "f" }
  @inlinable public static var valueKind: ValueKind { ValueKind(raw: .float) }
  @inlinable public var word: UInt64 { UInt64(bitPattern) }
  @inlinable public init(word: UInt64) { self.init(bitPattern: UInt32(truncatingIfNeeded: word)) }

  /// A `float` behind the `...` of a variadic function travels as a `double`.
  @inlinable
  public func store(in slot: ValueSlot) throws(InvocationError) {
    slot.word = slot.kind == Double.valueKind ? Double(self).bitPattern : word
  }

  @inlinable
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Float {
    slot.kind == Double.valueKind ? Float(Double(word: slot.word)) : Float(word: slot.word)
  }
}

extension Double: WordValue {
  public static var _word: _WordLayout? { .whole }
  public static var typeEncoding: String { "d" }
  @inlinable public static var valueKind: ValueKind { ValueKind(raw: .double) }
  @inlinable public var word: UInt64 { bitPattern }
  @inlinable public init(word: UInt64) { self.init(bitPattern: word) }
}

/// A value of more than one word that is just its bytes.
public protocol PlainValue: CallValue, BitwiseCopyable {}

extension PlainValue {
  @inlinable
  public func store(in slot: ValueSlot) throws(InvocationError) { slot.store(bytesOf: self) }

  @inlinable
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Self {
    // SAFETY: numbers; every bit pattern is one.
    unsafe slot.load(bytesAs: Self.self)
  }
}

extension Int128: PlainValue {
  public static var typeEncoding: String { "t" }
  public static var valueKind: ValueKind { ValueKind(raw: .int128) }
}

extension UInt128: PlainValue {
  public static var typeEncoding: String { "T" }
  public static var valueKind: ValueKind { ValueKind(raw: .uInt128) }
}

#if arch(x86_64) && !os(Windows)
  /// C's `long double` of this platform.
  extension Float80: PlainValue {
    public static var typeEncoding: String { "D" }
    public static var valueKind: ValueKind { ValueKind(raw: .longDouble) }
  }
#endif

/// A C `_Complex` number: two parts, one after the other.
public struct ComplexValue<Part: ComplexPart>: Hashable, Sendable, BitwiseCopyable {
  /// The real part.
  public var real: Part
  /// The imaginary part.
  public var imaginary: Part

  /// Makes a number of its parts.
  public init(_ real: Part, _ imaginary: Part) {
    self.real = real
    self.imaginary = imaginary
  }
}

/// A floating type that complex numbers are made of.
public protocol ComplexPart: CallValue, BinaryFloatingPoint, BitwiseCopyable, Sendable {
  /// The kind of a complex number of two such parts.
  static var complexKind: ValueKind { get }
}

extension Float: ComplexPart {
  public static var complexKind: ValueKind { ValueKind(raw: .complexFloat) }
}

extension Double: ComplexPart {
  public static var complexKind: ValueKind { ValueKind(raw: .complexDouble) }
}

#if arch(x86_64) && !os(Windows)
  extension Float80: ComplexPart {
    public static var complexKind: ValueKind { ValueKind(raw: .complexLongDouble) }
  }
#endif

extension ComplexValue: CallValue, PlainValue {
  public static var typeEncoding: String { "j" + Part.typeEncoding }
  public static var valueKind: ValueKind { Part.complexKind }
}
