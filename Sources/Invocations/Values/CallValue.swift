public import CForwardingShims

/// A Swift type whose values can be arguments and results of calls.
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

/// What a Swift type is in a frame: its kind, and whether it is one word and nothing else.
///
/// The facts of a type come from the same conformance as the functions that store and load its values.
/// A cast to a protocol does not: another module may have added that protocol later.
///
/// There is no way to make one outside of this package, and none to borrow that of another type
/// without the word `unsafe`.
@frozen
public struct ValueFacts: Sendable {
  @usableFromInline let kind: ValueKind
  /// How the value's memory becomes a word, if storing and loading do no more than that.
  @usableFromInline let word: FWDWord?
  /// The same for an optional of the type.
  @usableFromInline let optionalWord: FWDWord?
  /// The structure whose bytes are stored, if the kind is an aggregate.
  @usableFromInline let structure: (any CallStructure.Type)?
  /// Whether no value is stored as a zero word, so that zero can stand for a missing one.
  @usableFromInline let isNeverZero: Bool

  @inlinable
  init(_ kind: FWDKind, word: FWDWord? = nil) { self.init(ValueKind(raw: kind), word: word) }

  @inlinable
  init(
    _ kind: ValueKind, word: FWDWord? = nil, optionalWord: FWDWord? = nil,
    structure: (any CallStructure.Type)? = nil, isNeverZero: Bool = false
  ) {
    self.kind = kind
    self.word = word
    self.optionalWord = optionalWord
    self.structure = structure
    self.isNeverZero = isNeverZero
  }

  /// The bytes of a structure.
  @inlinable
  static func bytes(of structure: any CallStructure.Type) -> ValueFacts {
    ValueFacts(ValueKind(raw: .aggregate), structure: structure)
  }

  /// The address of something that is there: text or an object.
  @inlinable
  static func reference(_ kind: FWDKind) -> ValueFacts {
    ValueFacts(ValueKind(raw: kind), isNeverZero: true)
  }

  /// A type that fits no place: an aggregate that is no structure.
  @inlinable static var unfit: ValueFacts { ValueFacts(ValueKind(raw: .aggregate)) }

  /// Whether values of the type fit no place.
  @inlinable var isUnfit: Bool { kind.isAggregate && structure == nil }

  /// What a type is that travels as one with these facts: no word, as its memory is its own.
  @inlinable var carried: ValueFacts {
    ValueFacts(kind, structure: structure, isNeverZero: isNeverZero)
  }

  /// What an optional of a type with these facts is: it fits nowhere if zero is a value already.
  @inlinable var optional: ValueFacts {
    isNeverZero ? ValueFacts(kind, word: optionalWord) : .unfit
  }

  /// How many types may travel as one another. A type that travels as itself has no end.
  @inlinable static var maximumDepth: Int { 16 }

  /// A pointer, whose memory is the address; an optional one has nil as zero.
  @inlinable static var address: ValueFacts {
    ValueFacts(ValueKind(raw: .pointer), optionalWord: .whole, isNeverZero: true)
  }
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

  /// How the value's memory becomes a word.
  @inlinable static var memoryWord: FWDWord? { unsafe _callFacts(0).word }
}

/// What a stored value owns.
@usableFromInline
enum ValueOwnership: UInt8 {
  /// Nothing: the bytes are the value.
  case none
  /// One retain of an object.
  case object
  /// A C string of its own, to be freed.
  case cString
}

/// A value that may be missing: NULL, nil.
///
/// A missing value is a zero word, so a value that is there must not be one. Pointers, text,
/// objects, and types that travel as these never are. An optional of another type is refused when
/// it is compared with a place.
public protocol NullableCallValue: CallValue {}

/// One place in a frame: where a value is written to and read from.
///
/// It points into memory that may be gone when the call is over, so nothing can be done with one
/// outside of this package.
@safe
@frozen
public struct ValueSlot {
  @usableFromInline let slot: UnsafePointer<FWDSlot>
  @usableFromInline let frame: UnsafeMutableRawPointer
  /// The argument's index, or nil for the result.
  @usableFromInline let index: Int?

  // SAFETY: made only by this module, from a plan and a frame of that plan that both outlive it.
  @inlinable
  init(slot: UnsafePointer<FWDSlot>, frame: UnsafeMutableRawPointer, index: Int?) {
    unsafe self.slot = slot
    unsafe self.frame = frame
    self.index = index
  }

  /// The kind of the place.
  @inlinable
  var kind: ValueKind { unsafe ValueKind(raw: slot.pointee.kind) }

  /// The size of the value in bytes.
  var size: Int { unsafe Int(slot.pointee.size) }

  /// The eight bytes of a value in one word. Narrow values are written widened.
  @inlinable
  var word: UInt64 {
    get { unsafe (frame + Int(slot.pointee.offset)).load(as: UInt64.self) }
    nonmutating set {
      unsafe (frame + Int(slot.pointee.offset)).storeBytes(of: newValue, as: UInt64.self)
    }
  }

  /// Writes the bytes of `value`, as many as the place takes at most.
  @inlinable
  func store<Value>(bytesOf value: Value) {
    if MemoryLayout<Value>.size > 8, isWhole(MemoryLayout<Value>.size) {
      // SAFETY: the place takes that many bytes, in one piece.
      unsafe withUnsafePointer(to: value) {
        unsafe fwd_chunks_store(
          frame + Int(slot.pointee.offset), $0, MemoryLayout<Value>.size)
      }
      return
    }
    unsafe withUnsafeBytes(of: value) { bytes in
      // SAFETY: never more than the value has or the place takes.
      if let base = bytes.baseAddress {
        let size = unsafe min(bytes.count, Int(slot.pointee.size))
        unsafe fwd_slot_store(slot, frame, base, size)
      }
    }
  }

  /// Reads as many bytes as a `Value` has, or the place holds; what is beyond them is zero.
  ///
  /// - Safety: every bit pattern of these bytes must be a `Value`.
  @inlinable @unsafe
  func load<Value>(bytesAs type: Value.Type) -> Value {
    if MemoryLayout<Value>.size > 8, isWhole(MemoryLayout<Value>.size) {
      return unsafe withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { memory in
        // SAFETY: as in `store`; all of the room that was asked for is filled.
        let base = unsafe memory.baseAddress.unsafelyUnwrapped
        unsafe fwd_chunks_load(
          base, frame + Int(slot.pointee.offset), MemoryLayout<Value>.size)
        return unsafe base.move()
      }
    }
    return unsafe withUnsafeTemporaryAllocation(
      byteCount: max(1, MemoryLayout<Value>.stride), alignment: MemoryLayout<Value>.alignment
    ) { bytes in
      unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
      // SAFETY: the buffer has at least one byte; never more is read than it or the place holds.
      let base = unsafe bytes.baseAddress.unsafelyUnwrapped
      let size = unsafe min(MemoryLayout<Value>.size, Int(slot.pointee.size))
      unsafe fwd_slot_load(slot, frame, base, size)
      return unsafe base.load(as: Value.self)
    }
  }

  /// Whether the place has so many bytes, and all in one piece.
  @inlinable
  func isWhole(_ size: Int) -> Bool {
    unsafe Int(slot.pointee.head) >= size
  }

  /// Whether the place holds no address.
  @inlinable
  var isNull: Bool { word == 0 }
}
