// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims
package import TypeEncodings

// The kind of a value, which decides how it is stored and passed, is that of the C core: the letter
// of its type. A new kind of numbers is a case of `FWDKind` and of `Scalar`.
extension FWDKind {
  @inlinable var isObject: Bool { self == .object }
  @inlinable var isCString: Bool { self == .cString }
  @inlinable var isNothing: Bool { self == .nothing }
  @inlinable var isAggregate: Bool { self == .aggregate }

  @inlinable var isSwiftValue: Bool { self == .swiftValue }

  /// Whether a place of this kind may own its value: an object, a C string or a Swift value.
  @inlinable var isOwnable: Bool { self == .object || self == .cString || self == .swiftValue }

  /// The integer that has the memory of a number that is a word; nil for larger numbers. Eight bytes
  /// are one for all.
  @inlinable var memory: FWDKind? {
    switch self {
    case .float: .uInt32
    case .int64, .double: .uInt64
    case .int128, .uInt128, .longDouble: nil
    default: self
    }
  }

  /// The word of a value with this memory.
  @inlinable @unsafe
  @inline(__always)
  func widen<Value>(_ value: borrowing Value) -> UInt64 {
    unsafe _withUnprotectedUnsafePointer(to: value) {
      unsafe fwd_word_widen(self, UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
    }
  }

  /// The value with this memory in a word. Goes through a local word, because allocating a `Value`
  /// looks up types in unspecialized code.
  @inlinable @unsafe
  @inline(__always)
  func narrow<Value>(_ given: UInt64) -> Value {
    var narrow: UInt64 = 0
    return unsafe _withUnprotectedUnsafeMutablePointer(to: &narrow) {
      unsafe fwd_word_narrow(self, given, $0)
      return unsafe UnsafeRawPointer($0).load(as: Value.self)
    }
  }

  /// Whether a value of this kind may be set in a place: in a place of its own kind, and an address
  /// in every place that holds one.
  @inlinable
  func fits(_ place: FWDKind) -> Bool {
    self == place || (self == .pointer && (place.isAddress || place.isCString))
  }

  /// Whether a place of this kind holds an unowned address, whatever it points at.
  @inlinable var isAddress: Bool {
    switch self {
    case .pointer, .functionPointer, .block: true
    default: false
    }
  }

  /// Whether a place of this kind holds an address that `retainArguments` does not keep alive.
  var isUnownedPointer: Bool { self == .pointer || self == .block }

  /// Whether a place of this kind holds an address, so that nil fits.
  var isPointerLike: Bool {
    switch self {
    case .pointer, .functionPointer, .block, .cString, .classReference: true
    default: false
    }
  }

  /// What the place of this kind owns after a value is stored.
  @inlinable var ownership: ValueOwnership {
    switch self {
    case .object: .object
    case .cString: .cString
    case .swiftValue: .value
    default: .none
    }
  }

  /// The encoding of the Swift type of this kind.
  var encoding: String {
    switch self {
    case .nothing: return "v"
    case .pointer: return "^v"
    default:
      let complex = UInt8(FWD_COMPLEX)
      let letter = String(UnicodeScalar(rawValue & ~complex))
      return rawValue & complex == 0 ? letter : "j" + letter
    }
  }

  /// The kind of a scalar. Two letters may share a kind (`l` and `q`).
  init(_ scalar: Scalar) {
    guard let kind = FWDKind(rawValue: scalar.normalized.rawValue) else {
      preconditionFailure("every scalar has a kind")
    }
    self = kind
  }

  init(_ type: TypeEncoding) {
    self =
      switch type.kind {
      case .void, .unknown, .bitField: .nothing
      case .scalar(let scalar): FWDKind(scalar)
      case .complex(.float): .complexFloat
      case .complex(.double): .complexDouble
      case .complex(.longDouble): .complexLongDouble
      case .complex, .structure, .union, .vector: .aggregate
      case .cString, .atom: .cString
      case .object: .object
      case .block: .block
      case .classReference: .classReference
      case .selector: .selector
      case .pointer(let pointee): FWDKind(pointee: pointee)
      case .array: .pointer
      }
  }

  private init(pointee: TypeEncoding) {
    // `^?` is the spelling of a pointer to a function.
    if case .unknown = pointee.kind { self = .functionPointer } else { self = .pointer }
  }
}

extension TypeEncoding {
  /// Whether an argument or result of the type is an unowned address.
  var isUnownedAddress: Bool { FWDKind(self).isAddress }
}

extension FWDValue {
  /// Describes one result or argument type to the C core.
  package init(_ type: TypeEncoding, isArgument: Bool) throws(TypeEncodingError) {
    if type.isArray, isArgument {
      // C passes an array as a pointer to its first element.
      self.init(
        size: 8, alignment: 8, kind: .pointer, first: .integer, second: .none,
        component: .nothing, component_count: 0)
      return
    }
    let facts = try type.passingFacts()
    self.init(
      size: UInt32(facts.size), alignment: UInt32(facts.alignment), kind: FWDKind(type),
      first: FWDClass(facts.first), second: FWDClass(facts.second),
      component: facts.component.map { FWDKind($0) } ?? .nothing,
      component_count: UInt8(facts.componentCount))
  }
}

extension FWDClass {
  init(_ eightbyte: PassingFacts.EightbyteClass) {
    self =
      switch eightbyte {
      case .none: .none
      case .integer: .integer
      case .vector: .vector
      case .x87, .x87Upper: .X87
      case .complexX87: .complexX87
      case .memory: .memory
      }
  }
}

/// How values of a Swift type are stored in a frame.
///
/// A type of your own has the facts of its carrier:
///
/// ```swift
/// struct Celsius: CarriedValue {
///   var degrees: Double
///   var carrier: Double { degrees + 273.15 }
///   init?(carrier: Double) { degrees = carrier - 273.15 }
/// }
/// Celsius.typeEncoding  // d
/// ```
///
/// The facts of a type come from the same conformance as the functions that store and load its
/// values. A cast to a protocol would not guarantee that, because another module may add such a
/// conformance later.
///
/// Only this package can make facts, and only code with the word `unsafe` can use the facts of
/// another type.
@frozen
public struct ValueFacts: Sendable {
  @usableFromInline let kind: FWDKind
  /// The kind of the value's memory, if storing and loading the value is no more than to widen and
  /// to narrow that to a word; else nil.
  @usableFromInline let word: FWDKind?
  /// The meaning of a zero word.
  @usableFromInline let zero: ZeroWord
  /// The structure whose bytes are stored, if the kind is an aggregate.
  @usableFromInline let structure: (any CallStructure.Type)?

  /// The meaning of a zero word.
  @frozen
  @usableFromInline
  enum ZeroWord {
    /// Zero is a value like others, so no value can be missing.
    case isValue
    /// Zero is a missing value, because other values are valid addresses.
    case isMissing
    /// Zero is a missing value, and the word is the memory of an optional.
    case isMissingInMemory
  }

  @inlinable
  init(
    _ kind: FWDKind, word: FWDKind? = nil, zero: ZeroWord = .isValue,
    structure: (any CallStructure.Type)? = nil
  ) {
    self.kind = kind
    self.word = word
    self.zero = zero
    self.structure = structure
  }

  /// A number.
  @inlinable
  static func number(_ kind: FWDKind) -> ValueFacts { ValueFacts(kind, word: kind.memory) }

  /// A pointer. Loading one refuses zero, so it is more than its word; an optional pointer is its
  /// word.
  @inlinable static var address: ValueFacts {
    ValueFacts(.pointer, zero: .isMissingInMemory)
  }

  /// The kind of the memory of a number or a pointer that is a word.
  @inlinable var memory: FWDKind? { zero == .isMissingInMemory ? .uInt64 : word }

  /// A type that fits no place: an aggregate without a structure.
  @inlinable static var unfit: ValueFacts { ValueFacts(.aggregate) }

  /// Whether values of the type fit no place.
  @inlinable var isUnfit: Bool { kind.isAggregate && structure == nil }

  /// The facts of a type with this carrier. It has no `word`, because its memory layout is its own.
  @inlinable var carried: ValueFacts {
    ValueFacts(kind, zero: zero == .isValue ? .isValue : .isMissing, structure: structure)
  }

  /// The facts of an optional with these wrapped facts. It fits no place if zero is a valid value.
  @inlinable var optional: ValueFacts {
    switch zero {
    case .isValue: .unfit
    case .isMissing: ValueFacts(kind)
    case .isMissingInMemory: ValueFacts(kind, word: .uInt64)
    }
  }

  /// The maximum number of types that a value passes through to its carrier. A type that is its own
  /// carrier would recurse forever.
  @inlinable static var maximumDepth: Int { 16 }
}
