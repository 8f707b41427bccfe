public import CForwardingShims

/// What a Swift type is in a frame: its kind, and whether it is one word and nothing else.
///
/// A type of your own has those of its carrier:
///
/// ```swift
/// struct Celsius: CarriedValue {
///   var degrees: Double
///   var carrier: Double { degrees + 273.15 }
///   init?(carrier: Double) { degrees = carrier - 273.15 }
/// }
/// Celsius.valueKind == Double.valueKind  // true: the facts are those of the carrier
/// ```
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
  /// What a zero word is for the type.
  @usableFromInline let zero: ZeroWord
  /// The structure whose bytes are stored, if the kind is an aggregate.
  @usableFromInline let structure: (any CallStructure.Type)?

  /// What a zero word is for a type.
  @frozen
  @usableFromInline
  enum ZeroWord {
    /// A value like others, so that no value can be missing.
    case isValue
    /// A missing value, as the others are addresses of something that is there.
    case isMissing
    /// A missing value, and an optional's memory is the word.
    case isMissingInMemory
  }

  @inlinable
  init(_ kind: FWDKind, word: FWDWord? = nil) { self.init(ValueKind(raw: kind), word: word) }

  @inlinable
  init(
    _ kind: ValueKind, word: FWDWord? = nil, zero: ZeroWord = .isValue,
    structure: (any CallStructure.Type)? = nil
  ) {
    self.kind = kind
    self.word = word
    self.zero = zero
    self.structure = structure
  }

  /// The bytes of a structure.
  @inlinable
  static func bytes(of structure: any CallStructure.Type) -> ValueFacts {
    ValueFacts(ValueKind(raw: .aggregate), structure: structure)
  }

  /// Text or an object.
  @inlinable
  static func reference(_ kind: FWDKind) -> ValueFacts {
    ValueFacts(ValueKind(raw: kind), zero: .isMissing)
  }

  /// A pointer. Reading one refuses zero, so its memory is more than a word; an optional's is not.
  @inlinable static var address: ValueFacts {
    ValueFacts(ValueKind(raw: .pointer), zero: .isMissingInMemory)
  }

  /// A type that fits no place: an aggregate that is no structure.
  @inlinable static var unfit: ValueFacts { ValueFacts(ValueKind(raw: .aggregate)) }

  /// Whether values of the type fit no place.
  @inlinable var isUnfit: Bool { kind.isAggregate && structure == nil }

  /// What a type is that travels as one with these facts: no word, as its memory is its own.
  @inlinable var carried: ValueFacts {
    ValueFacts(kind, zero: zero == .isValue ? .isValue : .isMissing, structure: structure)
  }

  /// What an optional of a type with these facts is: it fits nowhere if zero is a value already.
  @inlinable var optional: ValueFacts {
    switch zero {
    case .isValue: .unfit
    case .isMissing: ValueFacts(kind)
    case .isMissingInMemory: ValueFacts(kind, word: .whole)
    }
  }

  /// How many types may travel as one another. A type that travels as itself has no end.
  @inlinable static var maximumDepth: Int { 16 }
}
