// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import TypeEncodings

/// Conversions of numbers without loss, for the methods that have an `exactly` parameter.
enum ExactNumber {
  /// Stores the conversion of `value`, and throws ``InvocationError/notExact(value:type:)`` if it
  /// is nil.
  private static func store<Target: CallValue>(
    _ converted: Target?, of value: @autoclosure () -> String, in slot: ValueSlot,
    _ type: () -> TypeEncoding
  ) throws(InvocationError) -> Bool {
    guard let converted else { throw .notExact(value: value(), type: type()) }
    try unsafe converted.store(in: slot)
    return true
  }

  /// Stores an integer. Returns false if the place takes no numbers, and throws if the value does
  /// not fit.
  static func store<Value: BinaryInteger>(
    _ value: Value, in slot: ValueSlot, _ type: @autoclosure () -> TypeEncoding
  ) throws(InvocationError) -> Bool {
    func put<Target: CallValue>(_ converted: Target?) throws(InvocationError) -> Bool {
      try store(converted, of: "\(value)", in: slot, type)
    }
    switch slot.kind {
    case .int8: return try put(Int8(exactly: value))
    case .uInt8: return try put(UInt8(exactly: value))
    case .int16: return try put(Int16(exactly: value))
    case .uInt16: return try put(UInt16(exactly: value))
    case .int32: return try put(Int32(exactly: value))
    case .uInt32: return try put(UInt32(exactly: value))
    case .int64: return try put(Int64(exactly: value))
    case .uInt64: return try put(UInt64(exactly: value))
    case .int128: return try put(Int128(exactly: value))
    case .uInt128: return try put(UInt128(exactly: value))
    case .bool: return try put(value == 0 ? false : value == 1 ? true : nil)
    case .float: return try put(Float(exactly: value))
    case .double: return try put(Double(exactly: value))
    case .longDouble: return try put(LongDouble(exactly: value))
    default: return false
    }
  }

  /// Stores a floating-point number. Returns and throws like the function for integers. A NaN is
  /// never exact.
  static func store<Value: BinaryFloatingPoint>(
    _ value: Value, in slot: ValueSlot, _ type: @autoclosure () -> TypeEncoding
  ) throws(InvocationError) -> Bool {
    func put<Target: CallValue>(_ converted: Target?) throws(InvocationError) -> Bool {
      try store(converted, of: "\(value)", in: slot, type)
    }
    switch slot.kind {
    case .float: return try put(Float(exactly: value))
    case .double: return try put(Double(exactly: value))
    case .longDouble: return try put(LongDouble(exactly: value))
    default:
      guard let whole = Int128(exactly: value) else {
        throw .notExact(value: "\(value)", type: type())
      }
      return try store(whole, in: slot, type())
    }
  }
}
