import CForwardingShims

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

  /// Where a method that is awaited leaves its note: it may come to its end on any thread.
  private final class Place: Sendable {
    @TaskLocal static var current: Place?
    let note = Guarded<Note?>(nil)
  }

  /// Says that an object has no implementation of its own.
  public static func leaveOut(_ object: AnyObject, _ selector: Selector) {
    unsafe fwd_leave_out(Unmanaged.passUnretained(object).toOpaque(), UInt64(selector.word))
    guard let place = Place.current else { return }
    let left = Note(ObjectIdentifier(object), selector)
    place.note.withLock { $0 = left }
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
    MethodTable.of(Object.self).leaveOut(selector)
    throw NotImplemented()
  }

  /// Runs a method; throws if that was the default implementation, and its class has no method from then on.
  public static func run<Object: AnyObject, Value>(
    _ selector: Selector, of object: Object, _ method: () throws -> Value
  ) throws -> Value {
    let thread = unsafe fwd_thread()
    unsafe fwd_forget_left_out(thread)
    let result = Swift.Result { try method() }
    let address = unsafe UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    guard unsafe fwd_is_left_out(thread, address, UInt64(selector.word)) != 0 else {
      return try result.get()
    }
    MethodTable.of(Object.self).leaveOut(selector)
    throw NotImplemented()
  }

  /// Notes that a face has found a class to leave out a requirement: it has no method for the message.
  static func note(leftOut selector: Selector, by type: AnyClass) {
    let table = MethodTable.of(type)
    if table.own(selector) != nil { table.leaveOut(selector) }
  }
}
