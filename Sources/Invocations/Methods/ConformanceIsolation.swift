import CForwardingShims

/// On which global actor a class conforms to a protocol.
package enum ConformanceIsolation: Sendable {
  /// On none: threads may call it that may have the object.
  case none
  /// Only there it may be called.
  case actor(any Actor)
  /// On one that the runtime does not name.
  case unknown

  /// Looks at the conformance of a class to the protocol of an existential type; any other type is of none.
  package init(of object: AnyClass, to existential: Any.Type) {
    // SAFETY: types are addresses of what the runtime knows of them, for as long as the process lives.
    let (type, wanted) = unsafe (
      unsafeBitCast(object as Any.Type, to: UnsafeRawPointer.self),
      unsafeBitCast(existential, to: UnsafeRawPointer.self)
    )
    var actor: UnsafeRawPointer?
    guard let wanted = unsafe fwd_existential_protocol(wanted),
      let table = unsafe fwd_conformance_of(type, wanted, &actor),
      unsafe fwd_conformance_is_isolated(table)
    else {
      self = .none
      return
    }
    // SAFETY: as above.
    let named = unsafe actor.map { unsafe unsafeBitCast($0, to: Any.Type.self) }
    self = (named as? any GlobalActor.Type).map { .actor(Self.shared($0)) } ?? .unknown
  }

  private static func shared<Named: GlobalActor>(_ type: Named.Type) -> any Actor { type.shared }
}
