import CForwardingShims
import TypeEncodings

/// A C structure or union as a Swift value.
///
/// A structure imported from a C header needs one line, which says what it is:
///
/// ```swift
/// extension div_t: @retroactive CallStructure {
///   public static var structure: VouchedStructure<div_t> { unsafe VouchedStructure("{div_t=ii}") }
/// }
/// try unsafe functions.register("div", encoding: "{div_t=ii}ii", unsafeSymbolIn: Library("libc.so.6"))
/// try functions.call("div", Int32(17), Int32(5), returning: div_t.self).rem  // 2
/// ```
///
/// A structure declared in Swift works too while its members lie where C puts them: Swift reuses
/// the padding at the end of an inner structure, C does not. Size, alignment, and that the value is
/// no more than its bytes, are checked; nobody can check what the bytes mean.
public protocol CallStructure: CallValue {
  /// The encoding, and its author's word that values of the type are such structures.
  static var structure: VouchedStructure<Self> { get }
}

/// The encoding of a structure that somebody vouched for.
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
  public let encoding: String

  /// Vouches that all bytes which a value of the encoding can have are a `Structure`.
  ///
  /// A message or function is known by its encoding alone, so the bytes may come from anybody who
  /// uses the same one.
  ///
  /// - Safety: no member may be narrower in Swift than in C, as a `Bool`, an enumeration, a metatype
  ///   or a closure is: bytes of C may be none of their values. Pointers must be pointers in C.
  @unsafe
  public init(_ encoding: String) { self.encoding = encoding }
}

extension CallStructure {
  public static var typeEncoding: String { structure.encoding }

  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts { .bytes(of: Self.self) }

  @inlinable @unsafe
  public func store(in slot: ValueSlot) throws(InvocationError) { slot.store(bytesOf: self) }

  @inlinable @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Self {
    // SAFETY: `CallPlan.accepts` refused every type whose values are more than their bytes, and the
    // author of the conformance vouched for what they mean.
    unsafe slot.load(bytesAs: Self.self)
  }
}
