/// A method that does nothing but say that there is none: an optional requirement that a class left out.
package struct NotImplemented: Error {
  package init() {}
}

/// What the default implementation of an optional requirement tells the method that called it.
///
/// Faces are written by `@Forwardable`; nobody else needs this.
///
/// ```swift
/// OptionalRequirement.leaveOut(Screen(), "idle")
/// ```
public enum OptionalRequirement {
  private final class Note: Sendable {
    let object: ObjectIdentifier
    let selector: Selector

    init(_ object: ObjectIdentifier, _ selector: Selector) {
      self.object = object
      self.selector = selector
    }
  }

  private static let note = ThreadLocal<Note>()

  /// Says that an object has no implementation of its own.
  public static func leaveOut(_ object: AnyObject, _ selector: Selector) {
    note.value = Note(ObjectIdentifier(object), selector)
  }

  /// Runs a method; throws if that was the default implementation, and its class has no method from then on.
  public static func run<Object: AnyObject, Value>(
    _ selector: Selector, of object: Object, _ method: () throws -> Value
  ) throws -> Value {
    note.value = nil
    let result = Swift.Result { try method() }
    guard let left = note.value else { return try result.get() }
    note.value = nil
    guard left.object == ObjectIdentifier(object), left.selector == selector else {
      return try result.get()
    }
    MethodTable.of(Object.self).remove(selector)
    throw NotImplemented()
  }
}
