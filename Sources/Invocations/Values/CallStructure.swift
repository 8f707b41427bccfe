// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims
import TypeEncodings

/// A C structure or union as a Swift value.
///
/// A structure imported from a C header needs one line, with its encoding:
///
/// ```swift
/// extension div_t: @retroactive CallStructure {
///   public static var structure: VouchedStructure<div_t> { unsafe VouchedStructure("{div_t=ii}") }
/// }
/// try unsafe functions.register("div", encoding: "{div_t=ii}ii", unsafeSymbolIn: Library("libc.so.6"))
/// try functions.call("div", Int32(17), Int32(5), returning: div_t.self).rem  // 2
/// ```
///
/// A structure declared in Swift works too if its members lie where C puts them. Swift reuses the
/// padding at the end of an inner structure, C does not. Size and alignment are checked, and that
/// the value is no more than its bytes. The meaning of the bytes cannot be checked.
public protocol CallStructure: CallValue {
  /// The encoding, with the promise of its author that values of the type have it.
  static var structure: VouchedStructure<Self> { get }
}

/// The encoding of a structure, with the promise that it describes the structure.
///
/// ```swift
/// struct Pair: CallStructure {
///   var one: Int16, other: Int16
///   static var structure: VouchedStructure<Pair> { unsafe VouchedStructure("{pair=ss}") }
/// }
/// try FunctionTable().register("swap") { (pair: Pair) in Pair(one: pair.other, other: pair.one) }
/// ```
@frozen
public struct VouchedStructure<Structure>: Sendable {
  /// The encoding, such as `{div_t=ii}`.
  let encoding: String

  /// Promises that all bytes that a value of the encoding can have are a valid `Structure`.
  ///
  /// Messages and functions are matched by their encodings, so the bytes may come from any code
  /// that uses the same encoding.
  ///
  /// - Safety: no member may be narrower in Swift than in C, as a `Bool`, an enumeration, a
  ///   metatype or a closure is: C may store bytes that are no valid value of these types. Members
  ///   that are pointers must be pointers in C.
  @unsafe
  public init(_ encoding: String) { self.encoding = encoding }
}

extension CallStructure {
  /// The encoding, also of a type that is not known.
  static var ownEncoding: String { structure.encoding }

  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts {
    ValueFacts(.aggregate, structure: Self.self)
  }
}
