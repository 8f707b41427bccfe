// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// A number of C. Types of other modules fit no place.
public protocol _NumberValue: CallValue {}

extension Int8: _NumberValue {}
extension UInt8: _NumberValue {}
extension Int16: _NumberValue {}
extension UInt16: _NumberValue {}
extension Int32: _NumberValue {}
extension UInt32: _NumberValue {}
extension Int64: _NumberValue {}
extension UInt64: _NumberValue {}
extension Int: _NumberValue {}
extension UInt: _NumberValue {}
extension Int128: _NumberValue {}
extension UInt128: _NumberValue {}
extension Bool: _NumberValue {}
extension Double: _NumberValue {}
extension LongDouble: _NumberValue {}

extension Float: _NumberValue {
  /// A `float` behind the `...` of a variadic function is passed as a `double`.
  @inlinable @unsafe
  public func store(in slot: ValueSlot) throws(InvocationError) {
    slot.word = slot.kind == .double ? Double(self).bitPattern : UInt64(bitPattern)
  }

  @inlinable @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Float {
    let word = slot.word
    return slot.kind == .double
      ? Float(Double(bitPattern: word)) : Float(bitPattern: UInt32(truncatingIfNeeded: word))
  }
}

#if arch(x86_64)
  /// C's `long double` on this platform.
  extension Float80: _NumberValue {}
#endif

extension _NumberValue {
  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts {
    // Tests of types, which the compiler makes where it knows the type.
    if Self.self == Int8.self { return .number(.int8) }
    if Self.self == UInt8.self { return .number(.uInt8) }
    if Self.self == Int16.self { return .number(.int16) }
    if Self.self == UInt16.self { return .number(.uInt16) }
    if Self.self == Int32.self { return .number(.int32) }
    if Self.self == UInt32.self { return .number(.uInt32) }
    if Self.self == Int64.self || Self.self == Int.self { return .number(.int64) }
    if Self.self == UInt64.self || Self.self == UInt.self { return .number(.uInt64) }
    if Self.self == Int128.self { return .number(.int128) }
    if Self.self == UInt128.self { return .number(.uInt128) }
    if Self.self == Bool.self { return .number(.bool) }
    if Self.self == Float.self { return .number(.float) }
    if Self.self == Double.self { return .number(.double) }
    if Self.self == LongDouble.self { return .number(.longDouble) }
    #if arch(x86_64)
      if Self.self == Float80.self { return .number(.longDouble) }
    #endif
    return .unfit
  }
}

extension FWDKind {
  /// The Swift types of numbers, by their kinds.
  static let numbers: [FWDKind: any CallValue.Type] = {
    let types: [any CallValue.Type] = [
      Int8.self, UInt8.self, Int16.self, UInt16.self, Int32.self, UInt32.self, Int.self, UInt.self,
      Int128.self, UInt128.self, Bool.self, Float.self, Double.self, LongDouble.self,
      ComplexValue<Float>.self, ComplexValue<Double>.self, ComplexValue<LongDouble>.self,
    ]
    return Dictionary(uniqueKeysWithValues: types.map { ($0.valueKind, $0) })
  }()
}

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
extension LongDouble: ComplexPart {}
#if arch(x86_64)
  extension Float80: ComplexPart {}
#endif

extension ComplexValue: CallValue {
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
}

// An address fits every pointer place: the pointee type is not checked, as with C's `void *`.

extension UnsafeRawPointer: @unsafe NullableCallValue {}
extension UnsafeMutableRawPointer: @unsafe NullableCallValue {}
extension UnsafePointer: @unsafe CallValue, @unsafe NullableCallValue {}
extension UnsafeMutablePointer: @unsafe CallValue, @unsafe NullableCallValue {}

extension CallValue where Self: _Pointer {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .address }
}

extension OpaquePointer: @unsafe NullableCallValue {
  @inlinable @unsafe public static func _callFacts(_ depth: Int) -> ValueFacts { .address }
}

extension Selector: CallValue {
  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts { ValueFacts(.selector) }

  @unsafe
  public func store(in slot: ValueSlot) throws(InvocationError) { slot.word = UInt64(word) }

  /// - Throws: ``InvocationError/selectorNotSet`` if the word of the place is not a registered
  ///   selector.
  @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Selector {
    guard let selector = Selector(ofWord: slot.word) else { throw .selectorNotSet }
    return selector
  }
}
