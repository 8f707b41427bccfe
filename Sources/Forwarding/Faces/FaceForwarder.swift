/// Where the messages of a face go: a proxy, and its targets if the face may call them.
///
/// Faces are written by `@Forwardable`; nobody else needs this.
///
/// ```swift
/// final class DoorFace {}
/// let forwarder = FaceForwarder(MulticastProxy(), for: DoorFace.self)
/// ```
@frozen
public struct FaceForwarder: Sendable {
  /// The proxy.
  public let proxy: any ForwardingProxy & Sendable
  /// Its targets.
  @usableFromInline let targets: FaceTargets

  /// Notes where the messages of a face go.
  ///
  /// A class below those of the package may do something of its own with messages, and gets all of them.
  public init(_ proxy: any ForwardingProxy & Sendable, for face: AnyClass) {
    self.proxy = proxy
    let owner = proxy.targetOwner
    targets = FaceTargets(owner?.targetList, of: owner, for: face)
  }
}

extension ForwardingProxy {
  /// This proxy, if it passes all messages on to its targets as they are.
  fileprivate var targetOwner: (any TargetListOwner)? {
    let type = type(of: self)
    if type == MulticastProxy.self || type == DataSourceProxy.self {
      return self as? MulticastProxy
    }
    return type == SingleTargetProxy.self ? self as? SingleTargetProxy : nil
  }
}
