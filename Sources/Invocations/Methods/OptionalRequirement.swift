// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The error of a method that stands for an optional requirement that a class left out.
package struct NotImplemented: Error {
  package init() {}
}

/// A class whose objects stand for targets of several types.
///
/// Adopted by the boxes of values that `@Forwardable` generates.
@_documentation(visibility: internal)
public protocol ManyTargets: AnyObject {
  /// The type of the target that this one stands for.
  var __targetType: Any.Type { get }
}

extension ManyTargets {
  public var __targetType: Any.Type { type(of: self) }
}

/// Notifies a running delivery that the default implementation of an optional requirement was
/// called.
@_documentation(visibility: internal)
public enum OptionalRequirement {
  /// Notes that an object has no implementation of its own.
  public static func leaveOut(_ object: AnyObject, _ selector: Selector) {
    leaveOut(ObjectIdentifier(object), selector)
  }

  private static func leaveOut(_ object: ObjectIdentifier, _ selector: Selector) {
    unsafe fwd_leave_out(address(object), UInt64(selector.word))
    AwaitedStep.noteLeftOut(object, selector)
  }

  // SAFETY: the address is compared, never read.
  private static func address(_ object: ObjectIdentifier) -> UnsafeRawPointer {
    unsafe unsafeBitCast(object, to: UnsafeRawPointer.self)
  }

  /// Notes that a target, which may be a value in a box, has no implementation of its own. A value has
  /// no identity: its type is noted, as a value of another type may have called it.
  public static func leaveOut<Target>(by target: Target, _ selector: Selector) {
    let type = type(of: target as Any)
    leaveOut(
      type is AnyClass ? ObjectIdentifier(target as AnyObject) : ObjectIdentifier(type), selector)
  }

  /// Forgets what calls on this thread left out, before a box calls its value.
  public static func forget() { unsafe fwd_forget_left_out(fwd_thread()) }

  /// Lets a box leave out what its value did on this thread, after a call that may have thrown.
  public static func passOn(_ selector: Selector, to box: some ManyTargets) {
    // Most values leave nothing out, and their type is not asked for.
    guard let thread = unsafe fwd_thread(), unsafe thread.pointee.left_out != nil else { return }
    let type = unsafe address(ObjectIdentifier(box.__targetType))
    if unsafe fwd_is_left_out(thread, type, UInt64(selector.word)) != 0 {
      leaveOut(box, selector)
    }
  }

  /// Lets a box leave out what its value did in this task.
  public static func passOnAwaited(_ selector: Selector, to box: some ManyTargets) {
    if AwaitedStep.isLeftOut(ObjectIdentifier(box.__targetType), selector) {
      leaveOut(box, selector)
    }
  }

  /// Runs an `async` method in the same way as ``run(_:of:_:)``.
  public nonisolated(nonsending) static func runAwaiting<Object: AnyObject, Value>(
    _ selector: Selector, of object: Object,
    _ method: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    var result = Swift.Result<Value, any Error>.failure(NotImplemented())
    let isLeftOut = await AwaitedStep.leavesOut(ObjectIdentifier(object), selector) {
      do { result = .success(try await method()) } catch { result = .failure(error) }
    }
    if isLeftOut {
      note(leftOut: selector, by: Object.self)
      throw NotImplemented()
    }
    return try result.get()
  }

  /// Runs a method. If the default implementation was called, removes the method from the object's
  /// class.
  ///
  /// - Throws: `NotImplemented` if the default implementation was called, or the error of the
  ///   method.
  public static func run<Object: AnyObject, Value>(
    _ selector: Selector, of object: Object, _ method: () throws -> Value
  ) throws -> Value {
    let address = unsafe UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    var value: Value?
    let isAnswered = try unsafe isAnswered(selector, by: address, of: Object.self) {
      value = try method()
    }
    guard isAnswered, let value else { throw NotImplemented() }
    return value
  }

  /// Runs a method of an object on this thread. Returns false if the default implementation was called,
  /// which may have thrown, as not every one has a value to return.
  @unsafe
  static func isAnswered(
    _ selector: Selector, by object: UnsafeRawPointer, of type: AnyClass,
    _ method: () throws -> Void
  ) throws -> Bool {
    let thread = unsafe fwd_thread()
    unsafe fwd_forget_left_out(thread)
    let result = Swift.Result { try method() }
    if unsafe fwd_is_left_out(thread, object, UInt64(selector.word)) != 0 {
      note(leftOut: selector, by: type)
      return false
    }
    try result.get()
    return true
  }

  /// Removes the method for a requirement that a proxy has found a class to leave out.
  static func note(leftOut selector: Selector, by type: AnyClass) {
    // The boxes of one class have values of many types, and other types may have the method.
    if type is any ManyTargets.Type { return }
    // A class without a table has no method to remove yet.
    guard let table = MethodTable.existing(type) else { return }
    if table.own(selector) != nil { return table.leaveOut(selector) }
    // A thread that has removed the method may not have removed it from the cache yet.
    if MethodTable.knowsAnswer(type, selector) == true, table.method(for: selector) == nil {
      table.leaveOut(selector)
    }
  }
}
