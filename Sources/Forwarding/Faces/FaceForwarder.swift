// SPDX-License-Identifier: Apache-2.0
/// The destination of a face's messages: a proxy, and its targets if the face may call them
/// directly.
///
/// Only the code that `@Forwardable` writes needs it.
///
/// ```swift
/// final class DoorFace {}
/// let forwarder = FaceForwarder(MulticastProxy(), for: DoorFace.self)
/// ```
@_documentation(visibility: internal)
@frozen
public struct FaceForwarder: Sendable {
  /// The proxy that gets the messages.
  @usableFromInline let proxy: any ForwardingProxy & Sendable
  /// The targets of the proxy, if the face may call them directly.
  @usableFromInline let targets: FaceTargets

  /// Makes the destination of a face's messages.
  ///
  /// A subclass of the proxies in this package may override how messages are handled, so it gets
  /// all of them, and no target is called directly.
  public init(_ proxy: any ForwardingProxy & Sendable, for face: AnyClass) {
    self.proxy = proxy
    KnownFaces.add(face)
    let owner = proxy.targetOwner
    targets = FaceTargets(owner?.targetList, of: owner, for: face)
  }

  /// Makes a destination that calls no target.
  init(messagesTo proxy: any ForwardingProxy & Sendable, for face: AnyClass) {
    self.proxy = proxy
    targets = FaceTargets(nil, of: nil, for: face)
  }
}

/// The classes of all faces that were made.
enum KnownFaces {
  private static let classes = Guarded<Set<ObjectIdentifier>>([])

  static func add(_ face: AnyClass) {
    classes.withLockInPlace { _ = $0.insert(ObjectIdentifier(face)) }
  }

  static func contain(_ type: AnyClass) -> Bool {
    classes.read { $0.contains(ObjectIdentifier(type)) }
  }
}

extension ForwardingProxy {
  /// This proxy, if it forwards all messages to its targets unchanged.
  fileprivate var targetOwner: (any TargetListOwner)? {
    type(of: self) == MulticastProxy.self ? self as? MulticastProxy : nil
  }
}
