// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims
import TypeEncodings

/// How values of a Swift type are stored in a place, determined once per message or method.
@safe
@usableFromInline
@frozen
package struct TypedPlace: Sendable {
  /// How a value is stored in a frame.
  @usableFromInline
  @frozen
  enum Way: Sendable {
    /// The word is its memory.
    case word(FWDWord)
    /// The word is the object, which the sender retains.
    case object
    /// The word is its address, in the sender's memory or an invocation's.
    case address
    /// The word is the address of a `String` or `String?`, which have one layout; zero is nil.
    case text
    /// The type converts it.
    case converted(any CallValue.Type)
    /// There is no value.
    case nothing
  }

  @usableFromInline let way: Way
  /// The type.
  @usableFromInline let type: SwiftType

  /// A place for a type that converts its own values.
  @usableFromInline
  init<Value: CallValue>(of type: Value.Type) {
    self.type = SwiftType(type)
    way = Self.way(of: type)
  }

  /// A place for any type. A `Void` result has no value; a `Void` argument has one.
  @usableFromInline
  package init<Value>(ofAny type: Value.Type, isResult: Bool = false, isMethod: Bool = false) {
    self.type = SwiftType(type)
    if isResult, type == Void.self {
      way = .nothing
    } else if isMethod, Self.isText(type) {
      way = .text
    } else if let known = type as? any CallValue.Type, !(known is any CallObject.Type) {
      way = Self.way(of: known)
    } else if type is AnyClass {
      way = .object
    } else {
      way = .address
    }
  }

  /// The same place, with values that the type converts.
  var converting: TypedPlace {
    (type.type as? any CallValue.Type).map { TypedPlace(type, .converted($0)) } ?? self
  }

  private init(_ type: SwiftType, _ way: Way) {
    self.type = type
    self.way = way
  }

  private static func isText(_ type: Any.Type) -> Bool {
    type == String.self || type == String?.self
  }

  private static func way(of type: any CallValue.Type) -> Way {
    // SAFETY: the facts are only read.
    let facts = unsafe type._callFacts(0)
    if let word = facts.word { return .word(word) }
    return type == NoResult.self ? .nothing : .converted(type)
  }

  /// The type, if the word of a value is an address; `String` for both types of text.
  var addressed: SwiftType? {
    switch way {
    case .address: type
    case .text: .text
    default: nil
    }
  }

  /// Whether a place of an encoding may hold the address of a value: a C string for text, else a
  /// pointer. An array is refused, because others may set its elements.
  func mayLie(in type: TypeEncoding) -> Bool {
    if case .text = way { return FWDKind(type) == .cString }
    return FWDKind(type) == .pointer && !type.isArray
  }

  /// Whether no place of any call takes the type.
  var isUnfit: Bool {
    // SAFETY: the facts are only read.
    if case .converted(let type) = way { unsafe type._callFacts(0).isUnfit } else { false }
  }

  /// The ownership of a result that a body stores.
  var ownership: ValueOwnership {
    switch way {
    case .word, .nothing: .none
    case .object: .object
    case .address, .text: .value
    case .converted(let type): type.ownership
    }
  }

  /// Whether a place of a plan takes the type; 0 is the result.
  func fits(_ plan: CallPlan, place: Int) -> Bool {
    let slot = unsafe place == 0 ? plan.result : plan.slots + (place - 1)
    let kind = unsafe ValueKind(raw: slot.pointee.kind)
    switch way {
    case .object: return kind.isObject
    case .address, .text: return plan.swiftType(ofPlace: place) == addressed
    case .nothing: return kind.isNothing
    case .converted(let type): return plan.accepts(type, kind, place: place)
    case .word:
      return (type.type as? any CallValue.Type).map { plan.accepts($0, kind, place: place) }
        ?? false
    }
  }
}

// SAFETY (all): the place was compared with the plan of the slot, and `Value` is its type.
extension TypedPlace {
  /// Writes a value. The frame owns it from then on, according to `ownership`.
  @inlinable @unsafe
  @inline(__always)
  func store<Value>(_ value: consuming Value, in slot: ValueSlot) throws(InvocationError) {
    if case .nothing = way { return }
    if case .word(let word) = way {
      slot.word = unsafe withUnsafeBytes(of: value) {
        unsafe fwd_word_widen(word, $0.baseAddress.unsafelyUnwrapped)
      }
      return
    }
    if case .address = way {
      unsafe slot.word = UInt64(UInt(bitPattern: AnyValue.box(value)))
      return
    }
    try unsafe storeUnusual(value, in: slot)
  }

  @usableFromInline @unsafe
  func storeUnusual<Value>(_ value: Value, in slot: ValueSlot) throws(InvocationError) {
    switch way {
    case .nothing: break
    case .word(let word):
      slot.word = unsafe withUnsafeBytes(of: value) {
        unsafe fwd_word_widen(word, $0.baseAddress.unsafelyUnwrapped)
      }
    case .object: slot.word = unsafe OwnedWord(unsafeBitCast(value, to: AnyObject.self)).word
    case .address: unsafe slot.word = UInt64(UInt(bitPattern: AnyValue.box(value)))
    case .text: slot.text = unsafe unsafeBitCast(value, to: String?.self)
    case .converted(let type): try unsafe convert(value, as: type, in: slot)
    }
  }

  @unsafe
  private func convert<Value, Stored: CallValue>(
    _ value: Value, as type: Stored.Type, in slot: ValueSlot
  ) throws(InvocationError) {
    try unsafe unsafeBitCast(value, to: Stored.self).store(in: slot)
  }

  /// Reads a value.
  @inlinable @unsafe
  @inline(__always)
  func load<Value>(as type: Value.Type, from slot: ValueSlot) throws(InvocationError) -> Value {
    switch way {
    case .address, .text:
      if let address = unsafe UnsafePointer<Value>(bitPattern: UInt(slot.word)) {
        return unsafe address.pointee
      }
    case .object:
      // A cast takes longer than a call, and most objects are of exactly this class.
      if let object = unsafe UnsafeRawPointer(bitPattern: UInt(slot.word)),
        unsafe SwiftBody.isExactly(ObjectIdentifier(type), object)
      {
        return unsafe unsafeBitCast(object, to: Value.self)
      }
    case .word(let word): return unsafe Self.narrow(slot.word, by: word)
    default: break
    }
    return try unsafe loadUnusual(as: type, from: slot)
  }

  /// The value in a word. Goes through a local word, because allocating a `Value` looks up types in
  /// unspecialized code.
  @inlinable @unsafe
  @inline(__always)
  static func narrow<Value>(_ given: UInt64, by word: FWDWord) -> Value {
    var narrow: UInt64 = 0
    return unsafe _withUnprotectedUnsafeMutablePointer(to: &narrow) {
      unsafe fwd_word_narrow(word, given, $0)
      return unsafe UnsafeRawPointer($0).load(as: Value.self)
    }
  }

  @usableFromInline @unsafe
  func loadUnusual<Value>(
    as type: Value.Type, from slot: ValueSlot
  ) throws(InvocationError) -> Value {
    switch way {
    case .address: throw .missingValue(index: slot.index)
    case .text:
      guard type == String?.self else { throw .notText(index: slot.index) }
      return unsafe unsafeBitCast(String?.none, to: Value.self)
    case .object: return try object(in: slot)
    case .word(let word): return unsafe Self.narrow(slot.word, by: word)
    case .converted(let type): return try unsafe converted(from: slot, by: type)
    case .nothing:
      // `Void` or `NoResult`, which have one value and no size.
      return unsafe withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { memory in
        unsafe memory.baseAddress.unsafelyUnwrapped.move()
      }
    }
  }

  @unsafe
  private func converted<Value, Stored: CallValue>(
    from slot: ValueSlot, by type: Stored.Type
  ) throws(InvocationError) -> Value {
    unsafe unsafeBitCast(try unsafe Stored.load(from: slot), to: Value.self)
  }

  /// The object, as an instance of the class or of a subclass.
  private func object<Value>(in slot: ValueSlot) throws(InvocationError) -> Value {
    guard let object = slot.object else { throw .wrongClass(expected: type, given: nil) }
    guard let value = object as? Value else {
      throw .wrongClass(expected: type, given: SwiftType(Swift.type(of: object)))
    }
    return value
  }
}

extension SwiftType {
  /// The type that stands for Swift text in a place of `*`.
  static let text = SwiftType(String.self)
}
