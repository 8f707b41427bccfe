import CForwardingShims

/// A method that does nothing but say that there is none: an optional requirement that a class left out.
package struct NotImplemented: Error {
  package init() {}
}

/// A class whose objects stand for targets of several types.
///
/// Boxes of values are such, which `@Forwardable` writes; nothing else needs it.
///
/// ```swift
/// final class Anything: ManyTargets {}
/// ```
public protocol ManyTargets: AnyObject {}

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
    AwaitedStep.noteLeftOut(ObjectIdentifier(object), selector)
    guard let place = Place.current else { return }
    let left = Note(ObjectIdentifier(object), selector)
    place.note.withLock { $0 = left }
  }

  /// Stands for a value, which has no identity.
  private static let value = Note(ObjectIdentifier(OptionalRequirement.self), "")

  /// Says that a target has no implementation of its own, which may be a value in a box.
  public static func leaveOut<Target>(by target: Target, _ selector: Selector) {
    let isObject = type(of: target as Any) is AnyClass
    leaveOut(isObject ? target as AnyObject : value, selector)
  }

  /// Calls the value of a box: what it leaves out, the box does.
  public static func call<Value>(
    for box: AnyObject, _ selector: Selector, _ method: () throws -> Value
  ) rethrows -> Value {
    let thread = unsafe fwd_thread()
    unsafe fwd_forget_left_out(thread)
    // One that has no value to return throws.
    defer {
      let address = unsafe UnsafeRawPointer(Unmanaged.passUnretained(value).toOpaque())
      if unsafe fwd_is_left_out(thread, address, UInt64(selector.word)) != 0 {
        leaveOut(box, selector)
      }
    }
    return try method()
  }

  /// The same, for what is `async`.
  public nonisolated(nonsending) static func callAwaiting<Value>(
    for box: AnyObject, _ selector: Selector,
    _ method: nonisolated(nonsending) () async throws -> Value
  ) async rethrows -> Value {
    defer {
      let left = Place.current?.note.read { $0 }
      let object = ObjectIdentifier(value)
      if left?.selector == selector && left?.object == object
        || AwaitedStep.isLeftOut(object, selector)
      {
        leaveOut(box, selector)
      }
    }
    return try await method()
  }

  /// Runs an `async` method in the same way as ``run(_:of:_:)``.
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
    note(leftOut: selector, by: Object.self)
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
    note(leftOut: selector, by: Object.self)
    throw NotImplemented()
  }

  /// Notes that a face has found a class to leave out a requirement: it has no method for the message.
  static func note(leftOut selector: Selector, by type: AnyClass) {
    // Boxes of one class have values of many types, of which others may have the method.
    if type is any ManyTargets.Type { return }
    let table = MethodTable.of(type)
    if table.own(selector) != nil { table.leaveOut(selector) }
  }
}
