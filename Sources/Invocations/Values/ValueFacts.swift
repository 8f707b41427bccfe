// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// How values of a Swift type are stored in a frame: their kind, and whether one word is all they
/// are.
///
/// A type of your own has the facts of its carrier:
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
/// The facts of a type come from the same conformance as the functions that store and load its
/// values. A cast to a protocol would not guarantee that, because another module may add such a
/// conformance later.
///
/// Only this package can make facts, and only code with the word `unsafe` can use the facts of
/// another type.
@frozen
public struct ValueFacts: Sendable {
  @usableFromInline let kind: ValueKind
  /// How the value's memory becomes a word; nil if storing or loading the value does more than
  /// that.
  @usableFromInline let word: FWDWord?
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

  /// A pointer. Loading one refuses zero, so it is more than its word; an optional pointer is its
  /// word.
  @inlinable static var address: ValueFacts {
    ValueFacts(ValueKind(raw: .pointer), zero: .isMissingInMemory)
  }

  /// A type that fits no place: an aggregate without a structure.
  @inlinable static var unfit: ValueFacts { ValueFacts(ValueKind(raw: .aggregate)) }

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
    case .isMissingInMemory: ValueFacts(kind, word: .whole)
    }
  }

  /// The maximum number of types that a value passes through to its carrier. A type that is its own
  /// carrier would recurse forever.
  @inlinable static var maximumDepth: Int { 16 }
}
