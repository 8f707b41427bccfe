public import CForwardingShims
import TypeEncodings

/// A C structure or union as a Swift value.
///
/// A structure imported from a C header needs one line, its encoding:
///
/// ```swift
/// extension div_t: CallStructure {
///   public static var typeEncoding: String { "{div_t=ii}" }
/// }
/// ```
///
/// A structure declared in Swift works too while its members lie where C puts them: Swift reuses
/// the padding at the end of an inner structure, C does not. Size and alignment are checked.
public protocol CallStructure: CallValue {}

extension CallStructure {
  @inlinable public static var valueKind: ValueKind { ValueKind(raw: .aggregate) }

  @inlinable
  public func store(in slot: ValueSlot) throws(InvocationError) { slot.store(bytesOf: self) }

  @inlinable
  public static func load(from slot: ValueSlot) throws(InvocationError) -> Self {
    // SAFETY: `TypeMatch` refused every type whose values are more than their bytes.
    unsafe slot.load(bytesAs: Self.self)
  }
}

/// Finds out, once for each plan and place, whether a Swift type fits there.
enum TypeMatch {
  /// Whether values of `type` fit a place of type `place`.
  static func fits<Value: CallValue>(
    _ type: Value.Type, _ kind: ValueKind, _ place: TypeEncoding
  ) -> Bool {
    guard Value.accepts(kind) else { return false }
    return kind.raw != .aggregate || fitsAggregate(type, place)
  }

  private static func fitsAggregate<Value: CallValue>(
    _ type: Value.Type, _ place: TypeEncoding
  ) -> Bool {
    guard let own = try? TypeEncoding(parsing: Value.typeEncoding),
      let layout = try? place.layout
    else { return false }
    // A registered layout has the encoding's members, but other offsets; then bytes decide.
    let isSameType =
      own.identity == place.identity || own.canonicalSpelling == place.canonicalSpelling
    return isSameType && _isPOD(type) && MemoryLayout<Value>.stride == max(layout.size, 1)
      && MemoryLayout<Value>.alignment == layout.alignment
  }
}
