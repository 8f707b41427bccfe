// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The global actor that a class's conformance to a protocol is isolated to.
package enum ConformanceIsolation: Sendable {
  /// None: any thread that may use the object may call it.
  case none
  /// This actor, and only code on it may call the object.
  case actor(any Actor)
  /// An actor that the runtime does not name.
  case unknown

  /// Inspects the conformance of a class to the protocol of an existential type. The result for
  /// other types is `none`.
  ///
  /// Most conformances are not isolated, which the witness table of a value says. The runtime's
  /// search for a conformance, in all images of the process, is left to the others.
  ///
  /// - Parameter value: an object of the class, as any type.
  package init<Value>(of object: AnyClass, to existential: Any.Type, as value: Value) {
    if Self.isCertainlyNone(value) {
      self = .none
      return
    }
    SwiftRuntime.findsConformances
    // SAFETY: a type is the address of its metadata, which lives as long as the process.
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
    // SAFETY: the word is the address of a type's metadata.
    let named = unsafe actor.map { unsafe unsafeBitCast($0, to: Any.Type.self) }
    self = (named as? any GlobalActor.Type).map { .actor(Self.shared($0)) } ?? .unknown
  }

  /// Whether a value of a class-bound protocol has a witness table without an actor.
  private static func isCertainlyNone<Value>(_ value: Value) -> Bool {
    // SAFETY: a type is the address of its metadata. A value of one protocol for objects is the
    // object and the table.
    unsafe MemoryLayout<Value>.size == 2 * MemoryLayout<UInt>.size
      && fwd_existential_protocol(unsafeBitCast(Value.self as Any.Type, to: UnsafeRawPointer.self))
        != nil
      && !fwd_conformance_is_isolated(unsafeBitCast(value, to: (UInt, UnsafeRawPointer).self).1)
  }

  private static func shared<Named: GlobalActor>(_ type: Named.Type) -> any Actor { type.shared }
}
