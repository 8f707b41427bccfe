// SPDX-License-Identifier: Apache-2.0
/// A type of your own whose values are passed as values of another type, the carrier.
///
/// An enumeration with raw values, or any other `RawRepresentable` type, has nothing to implement:
///
/// ```swift
/// enum Mode: Int32, CarriedValue { case read, write }
/// try functions.register("open") { (mode: Mode) in "for \(mode)" }
/// try functions.call("open", Mode.write, returning: String.self)  // for write
/// try functions.call("open", Int32(7), returning: String.self)    // throws: 7 is not a value of Mode
/// ```
///
/// Other types convert their values to the carrier and back. C, or another caller, may pass a
/// carrier that stands for no value of the type. Then ``init(carrier:)`` returns nil, and the call
/// throws ``InvocationError/foreignValue(type:given:)``.
///
/// The carrier may be a ``CarriedValue`` too. A type that is its own carrier, directly or through
/// others, or that has a chain of more than 16 carriers, is refused by every call.
public protocol CarriedValue: CallValue {
  /// The type that values are passed as.
  associatedtype Carrier: CallValue
  /// The value to pass.
  var carrier: Carrier { get }
  /// Makes the value from its carrier; nil if the carrier stands for no value of this type.
  init?(carrier: Carrier)
}

extension CarriedValue {
  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts {
    // SAFETY: the carrier is stored, by the same conformance.
    depth < ValueFacts.maximumDepth ? unsafe Carrier._callFacts(depth + 1).carried : .unfit
  }

  @inlinable @unsafe
  public func store(in slot: ValueSlot) throws(InvocationError) {
    try unsafe carrier.store(in: slot)
  }

  /// Reads the carrier, which must be that of a value.
  @inlinable @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Self {
    let carrier = try unsafe Carrier.load(from: slot)
    guard let value = Self(carrier: carrier) else {
      throw .foreignValue(type: SwiftType(Self.self), given: "\(carrier)")
    }
    return value
  }
}

extension CarriedValue where Self: RawRepresentable, RawValue: CallValue {
  /// The raw value.
  @inlinable public var carrier: RawValue { rawValue }

  /// Makes the value from its raw value; nil if it has no such value.
  @inlinable public init?(carrier: RawValue) { self.init(rawValue: carrier) }
}
