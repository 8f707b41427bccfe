// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

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
