import CForwardingShims

/// The proxy that has the targets of a face.
@safe
@usableFromInline
final class FaceOwner: Sendable {
  // SAFETY: the face keeps the proxy as long as this.
  private nonisolated(unsafe) unowned(unsafe) let owner: any TargetListOwner

  init(_ owner: any TargetListOwner) { unsafe self.owner = owner }

  var proxy: any TargetListOwner { unsafe owner }
}

/// The targets that a face calls directly, through their witness tables: three words of each face.
///
/// Faces are written by `@Forwardable`; nothing else needs this.
///
/// ```swift
/// MemoryLayout<FaceTargets>.size  // 24
/// ```
@safe
@frozen
public struct FaceTargets: @unchecked Sendable {
  // SAFETY: the face keeps the proxy that owns the list; the class of the face lives as long as the process.
  @usableFromInline let list: UnsafeRawPointer?
  @usableFromInline let face: UnsafeRawPointer
  @usableFromInline let owner: FaceOwner?

  /// The list of a proxy that passes every message on to its targets; nil where the proxy may do something else.
  package init(_ list: TargetList?, of owner: (any TargetListOwner)?, for face: AnyClass) {
    unsafe self.list = list.map { unsafe UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
    self.owner = owner.map { FaceOwner($0) }
    unsafe self.face = unsafeBitCast(face, to: UnsafeRawPointer.self)
  }
}

/// A target that a face calls. It is lent for the call, and no reference to it is counted.
///
/// Faces are written by `@Forwardable`; nothing else needs this.
///
/// ```swift
/// let describe = { (target: borrowing FaceTarget<any CustomStringConvertible>) in
///   target.value.description
/// }
/// ```
@frozen
public struct FaceTarget<Value>: ~Copyable {
  /// The target.
  public let value: Value
}
