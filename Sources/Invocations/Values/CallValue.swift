// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// A Swift type whose values can be arguments and results of calls.
///
/// ```swift
/// Double.typeEncoding   // d
/// String?.typeEncoding  // *
/// let call = try Invocation(parsing: "vi")
/// try call.setArgument(Int64(2), at: 0)           // throws: argument 0 is Int32 (i), not Int64 (q)
/// try call.setArgument(exactly: Int64(2), at: 0)
/// ```
///
/// The package conforms the integers and floats of C, `Bool`, pointers, `String` (for `*`) and
/// ``Selector``. Adopt ``CallObject`` for a class, ``CarriedValue`` for a type that is passed as
/// one of these, and ``CallStructure`` for a C structure. No other conformance is possible: only
/// this package decides how values are stored in a frame, so a type cannot declare one
/// representation and store another.
///
/// A value must match the kind of its place: an `Int32` fits `i` and nothing else. Only methods
/// with an `exactly` parameter convert.
public protocol CallValue: SendableMetatype {
  /// How values of the type are stored in a frame. Only this package can make such facts.
  ///
  /// - Parameter depth: the number of types that have this one as their carrier.
  @unsafe static func _callFacts(_ depth: Int) -> ValueFacts
  /// Writes the value into a place that was found to fit.
  ///
  /// - Throws: ``InvocationError`` if the value cannot be stored, such as text with a NUL in a C
  ///   string.
  /// - Safety: the place must fit the type, and belong to a call that is being recorded or
  ///   answered.
  @unsafe func store(in slot: ValueSlot) throws(InvocationError)
  /// Reads a value from a place that was found to fit.
  ///
  /// - Throws: ``InvocationError`` if the place holds no value of this type.
  /// - Safety: the place must fit the type and belong to a call that is being recorded or answered.
  ///   The memory that it refers to must be valid.
  @unsafe static func load(from slot: ValueSlot) throws(InvocationError) -> Self
}

extension CallValue {
  /// The encoding of this type in a signature that is derived from Swift types; `?` if its values
  /// fit no place.
  public static var typeEncoding: String {
    // SAFETY: the facts are only read.
    let facts = unsafe _callFacts(0)
    return facts.isUnfit ? "?" : facts.structure?.ownEncoding ?? facts.kind.encoding
  }

  /// The kind of place that values of this type fit.
  @inlinable
  static var valueKind: FWDKind {
    // SAFETY: the facts are only read.
    unsafe _callFacts(0).kind
  }

  /// What a frame owns after a value was stored in it.
  @inlinable static var ownership: ValueOwnership { valueKind.ownership }

  // The memory of numbers, pointers and structures is what is passed, and that of an object is its
  // reference. Other types have functions of their own.

  @inlinable @unsafe
  public func store(in slot: ValueSlot) throws(InvocationError) {
    let facts = unsafe Self._callFacts(0)
    if let word = facts.memory {
      slot.word = unsafe word.widen(self)
    } else if facts.kind.isObject {
      // SAFETY: classes and `AnyCallObject` are one reference.
      slot.keep(unsafe unsafeBitCast(self, to: AnyObject.self))
    } else {
      slot.store(bytesOf: self)
    }
  }

  /// Reads a value by the bytes of its memory.
  ///
  /// - Throws: ``InvocationError/nullPointer(index:)`` for a null pointer.
  @inlinable @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Self {
    let facts = unsafe _callFacts(0)
    if facts.zero == .isMissingInMemory, slot.isNull { throw .nullPointer(index: slot.index) }
    // SAFETY: every bit pattern is a valid number, and the author of a structure promised the same of
    // its bytes. `CallPlan.accepts` refused every structure that is more than its bytes.
    guard let word = facts.memory else { return unsafe slot.load(bytesAs: Self.self) }
    return unsafe word.narrow(slot.word)
  }
}

/// A value that may be missing: NULL or nil.
///
/// ```swift
/// try functions.register("length") { (text: String?) in text?.utf8.count ?? -1 }
/// try functions.call("length", nil as String?, returning: Int.self)  // -1
/// try functions.call("length", "seven", returning: Int.self)         // 5
/// ```
///
/// A missing value is stored as a zero word, so other values must not be zero. Pointers, text and
/// objects, and types that have one as their carrier, are never zero. Optionals of other types are
/// refused when they are compared with a place.
public protocol NullableCallValue: CallValue {}

extension Optional: CallValue where Wrapped: NullableCallValue {
  /// An optional pointer is its address, and nil is zero.
  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts {
    // SAFETY: the wrapped value is stored, by the same conformance, or zero.
    unsafe Wrapped._callFacts(depth).optional
  }

  @inlinable @unsafe
  public func store(in slot: ValueSlot) throws(InvocationError) {
    if let self { try unsafe self.store(in: slot) } else { slot.word = 0 }
  }

  @inlinable @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Wrapped? {
    slot.isNull ? nil : try unsafe Wrapped.load(from: slot)
  }
}

/// The result type of a message without a result: `v`.
///
/// ```swift
/// let saved = try Message<NoResult, Int32>("didSave:")
/// saved.signature  // v@:i
/// ```
@frozen
public struct NoResult: CallValue, Hashable, Sendable {
  /// Makes the only value.
  @inlinable public init() {}

  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts { ValueFacts(.nothing) }
}
