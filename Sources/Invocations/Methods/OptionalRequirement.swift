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

  /// Where a method that is awaited leaves its note: it may come to its end on any thread.
  private final class Place: Sendable {
    @TaskLocal static var current: Place?
    let note = Guarded<Note?>(nil)
  }

  /// Says that an object has no implementation of its own.
  public static func leaveOut(_ object: AnyObject, _ selector: Selector) {
    let left = Note(ObjectIdentifier(object), selector)
    note.value = left
    Place.current?.note.withLock { $0 = left }
  }

  /// Runs an `async` method in the same way.
  public static func runAwaiting<Object: AnyObject, Value>(
    _ selector: Selector, of object: Object, isolation: isolated (any Actor)? = #isolation,
    _ method: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    let place = Place()
    let result: Swift.Result<Value, any Error> = await Place.$current.withValue(place) {
      _ = isolation
      do { return .success(try await method()) } catch { return .failure(error) }
    }
    guard let left = place.note.read({ $0 }), left.object == ObjectIdentifier(object),
      left.selector == selector
    else { return try result.get() }
    MethodTable.of(Object.self).remove(selector)
    throw NotImplemented()
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
