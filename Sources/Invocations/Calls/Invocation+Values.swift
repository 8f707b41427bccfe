// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
public import TypeEncodings

extension Invocation {
  /// The declared arguments as Swift values: numbers, `Bool`, `String`, objects, ``Selector``,
  /// addresses as `UnsafeRawPointer`, and structures as ``RawValue``; nil for missing values.
  ///
  /// For code that records, prints or compares calls of any type. To read one argument of a known
  /// type, `argument(at:as:)` is faster and checks the type.
  ///
  /// ```swift
  /// let call = try Message<NoResult, Int32, String>("save:as:").invocation(7, "seven")
  /// call.arguments  // [7, "seven"]
  /// ```
  public var arguments: [Any?] {
    (plan.signature.numberOfHiddenArguments..<plan.argumentCount).map { index in
      call.value(call.slot(index))
    }
  }

  /// The result as a Swift value, as in ``arguments``; nil if there is no result.
  public var resultValue: Any? {
    guard call.hasResult, call.returnsValue else { return nil }
    return call.value(call.resultSlot)
  }
}

extension Call {
  /// The value in a place, as in ``Invocation/arguments``.
  func value(_ slot: ValueSlot) -> Any? {
    // SAFETY: each type is loaded from a place of its own kind, as the switch ensures.
    switch slot.kind {
    case .int8: return unsafe loaded(slot, Int8.self)
    case .uInt8: return unsafe loaded(slot, UInt8.self)
    case .int16: return unsafe loaded(slot, Int16.self)
    case .uInt16: return unsafe loaded(slot, UInt16.self)
    case .int32: return unsafe loaded(slot, Int32.self)
    case .uInt32: return unsafe loaded(slot, UInt32.self)
    case .int64: return unsafe loaded(slot, Int.self)
    case .uInt64: return unsafe loaded(slot, UInt.self)
    case .int128: return unsafe loaded(slot, Int128.self)
    case .uInt128: return unsafe loaded(slot, UInt128.self)
    case .float: return unsafe loaded(slot, Float.self)
    case .double: return unsafe loaded(slot, Double.self)
    case .bool: return unsafe loaded(slot, Bool.self)
    case .complexFloat: return unsafe loaded(slot, ComplexValue<Float>.self)
    case .complexDouble: return unsafe loaded(slot, ComplexValue<Double>.self)
    case .cString: return slot.isNull ? nil : unsafe loaded(slot, String.self)
    case .object: return slot.object
    case .swiftValue: return swiftValue(slot)
    case .selector: return Selector(ofWord: slot.word)
    case .pointer, .functionPointer, .block, .classReference:
      return unsafe UnsafeRawPointer(bitPattern: UInt(slot.word))
    default: return RawValue(type: plan.type(ofPlace: slot.place), bytes: slot.bytes)
    }
  }

  @unsafe
  private func loaded<Value: CallValue>(_ slot: ValueSlot, _ type: Value.Type) -> Any {
    do { return try unsafe Value.load(from: slot) } catch {
      // Text that is not UTF-8 has no `String`.
      return RawValue(type: plan.type(ofPlace: slot.place), bytes: slot.bytes)
    }
  }

  private func swiftValue(_ slot: ValueSlot) -> Any? {
    guard let type = swiftType(slot),
      let address = unsafe UnsafeRawPointer(bitPattern: UInt(slot.word))
    else { return nil }
    // SAFETY: a place of a Swift type holds the address of such a value, or zero.
    return unsafe AnyValue.value(type, at: address)
  }
}

/// A value that has no Swift type of its own, such as a structure.
///
/// ```swift
/// let call = try Invocation(parsing: "v{pair=ss}")
/// let pair = call.arguments[0] as? RawValue
/// pair?.type   // {pair=ss}
/// pair?.bytes  // [0, 0, 0, 0]
/// ```
public struct RawValue: Hashable, Sendable {
  /// The type.
  public let type: TypeEncoding
  /// The bytes.
  public let bytes: [UInt8]
}

extension RawValue: CustomStringConvertible {
  /// The type and up to 32 bytes: `{pair=ss} 01 00 02 00`.
  public var description: String {
    let shown = bytes.prefix(32).map { (byte: UInt8) in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return "\(type) " + shown.joined(separator: " ") + (bytes.count > 32 ? " …" : "")
  }
}
