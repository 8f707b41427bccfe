// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The proxy that owns the targets of a face.
@safe
@usableFromInline
final class FaceOwner: Sendable {
  // SAFETY: the face retains the proxy while it retains this object.
  private nonisolated(unsafe) unowned(unsafe) let owner: any TargetListOwner

  init(_ owner: any TargetListOwner) { unsafe self.owner = owner }

  var proxy: any TargetListOwner { unsafe owner }
}

/// The targets that a face calls directly, through their witness tables. Takes three words in each
/// face.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// MemoryLayout<FaceTargets>.size  // 24
/// ```
@_documentation(visibility: internal)
@safe
@frozen
public struct FaceTargets: @unchecked Sendable {
  // SAFETY: the face, or the multicast, retains the proxy that owns the list. Types are never freed.
  @usableFromInline let list: UnsafeRawPointer?
  @usableFromInline let face: UnsafeRawPointer
  @usableFromInline let owner: FaceOwner?

  /// Whether the proxy has a list of targets.
  @inlinable package var areListed: Bool { unsafe list != nil }

  /// Wraps the list of a proxy that passes every message on to its targets. The list is nil if the
  /// proxy may do something else.
  ///
  /// - Parameter face: the class of the face, or the type of the targets where there is no face.
  package init(_ list: TargetList?, of owner: (any TargetListOwner)?, for face: Any.Type) {
    unsafe self.list = list.map { unsafe UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
    self.owner = owner.map { FaceOwner($0) }
    unsafe self.face = unsafeBitCast(face, to: UnsafeRawPointer.self)
  }
}

/// A target that a face calls. It is borrowed for the call, without a retain.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// let describe = { (target: borrowing FaceTarget<any CustomStringConvertible>) in
///   target.value.description
/// }
/// ```
@_documentation(visibility: internal)
@frozen
public struct FaceTarget<Value>: ~Copyable {
  /// The target.
  public let value: Value
}
