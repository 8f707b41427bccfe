public import CForwardingShims

/// A Swift type whose values can be arguments and results of calls.
///
/// ```swift
/// Double.typeEncoding   // d
/// String?.typeEncoding  // *
/// let call = try Invocation(parsing: "vi")
/// try call.setArgument(Int64(2), at: 0)           // throws: argument 0 is i, but Int64 (q) was given
/// try call.setArgument(exactly: Int64(2), at: 0)
/// ```
///
/// The package conforms the integers and floats of C, `Bool`, pointers, `String` (for `*`) and
/// ``Selector``. Adopt ``CallObject`` for a class, ``CarriedValue`` for a type that travels as one of
/// these, and ``CallStructure`` for a C structure. Nothing else can conform: how a value lies in a
/// frame is decided here, so that no type can say one thing and store another.
///
/// A value is matched with a place by its kind: an `Int32` fits `i` and nothing else. Conversions
/// are made only where a method named `exactly` asks for them.
public protocol CallValue: SendableMetatype {
  /// The encoding that is spelled for this type when a signature is derived from Swift types.
  static var typeEncoding: String { get }
  /// What the type is in a frame. Only this package can make such facts.
  ///
  /// `depth` counts the types around this one that travel as it.
  @unsafe static func _callFacts(_ depth: Int) -> ValueFacts
  /// Writes the value into a place that was found to fit.
  ///
  /// - Safety: the place must fit the type, and belong to a call that is being recorded or answered.
  @unsafe func store(in slot: ValueSlot) throws(InvocationError)
  /// Reads a value from a place that was found to fit.
  ///
  /// - Safety: as for ``store(in:)``; what the place refers to must be alive.
  @unsafe static func load(from slot: ValueSlot) throws(InvocationError) -> Self
}

extension CallValue {
  /// The kind of place that values of this type fit.
  @inlinable
  public static var valueKind: ValueKind {
    // SAFETY: only looked at.
    unsafe _callFacts(0).kind
  }

  /// What the owner of a frame has to let go of after a value was stored.
  @inlinable static var ownership: ValueOwnership { valueKind.ownership }

  /// How the value's memory becomes a word, if storing and loading do no more than that.
  @inlinable static var memoryWord: FWDWord? { unsafe _callFacts(0).word }
}

/// A value that may be missing: NULL, nil.
///
/// ```swift
/// try functions.register("length") { (text: String?) in text?.utf8.count ?? -1 }
/// try functions.call("length", nil as String?, returning: Int.self)  // -1
/// try functions.call("length", "seven", returning: Int.self)         // 5
/// ```
///
/// A missing value is a zero word, so a value that is there must not be one. Pointers, text,
/// objects, and types that travel as these never are. An optional of another type is refused when
/// it is compared with a place.
public protocol NullableCallValue: CallValue {}
