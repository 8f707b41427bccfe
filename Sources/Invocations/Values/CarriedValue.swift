/// A type of your own whose values travel as those of another.
///
/// An enumeration with raw values, or any other `RawRepresentable` type, has nothing to implement:
///
/// ```swift
/// enum Mode: Int32, CarriedValue { case read, write }
/// try functions.register("open") { (mode: Mode) in "for \(mode)" }
/// try functions.call("open", Mode.write, returning: String.self)  // for write
/// try functions.call("open", Int32(7), returning: String.self)    // throws: 7 is no value of Mode
/// ```
///
/// Another type says how its values become values of the carrier, and back. C, or another caller,
/// may send what is no value of the type: ``init(carrier:)`` returns nil then, and the call throws
/// ``InvocationError/foreignValue(type:given:)``.
///
/// The carrier may be a ``CarriedValue`` too, but no type can travel as itself, or through more than 16
/// others: no call takes one that does.
public protocol CarriedValue: CallValue {
  /// The type that values travel as.
  associatedtype Carrier: CallValue
  /// The value as it travels.
  var carrier: Carrier { get }
  /// The value that arrived; nil if it is none of this type.
  init?(carrier: Carrier)
}

extension CarriedValue {
  public static var typeEncoding: String {
    // SAFETY: only looked at. The carrier of an unfit type may be without end.
    unsafe _callFacts(0).isUnfit ? "?" : Carrier.typeEncoding
  }

  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts {
    // SAFETY: what is stored is the carrier, by the same conformance.
    depth < ValueFacts.maximumDepth ? unsafe Carrier._callFacts(depth + 1).carried : .unfit
  }

  @inlinable @unsafe
  public func store(in slot: ValueSlot) throws(InvocationError) {
    try unsafe carrier.store(in: slot)
  }

  @inlinable @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Self {
    let carrier = try unsafe Carrier.load(from: slot)
    guard let value = Self(carrier: carrier) else {
      throw .foreignValue(type: SwiftType(Self.self), given: GivenValue(carrier: carrier))
    }
    return value
  }
}

extension CarriedValue where Self: RawRepresentable, RawValue: CallValue {
  @inlinable public var carrier: RawValue { rawValue }

  @inlinable public init?(carrier: RawValue) { self.init(rawValue: carrier) }
}
