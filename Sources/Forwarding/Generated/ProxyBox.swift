// SPDX-License-Identifier: Apache-2.0
public import Invocations

import Glibc

/// An object that stands in for a value among the targets of a proxy. It conforms to the protocol,
/// and calls the value.
@_documentation(visibility: internal)
public protocol _ProxyBox: _ProxySender, ManyTargets {
  /// The existential type of the protocol.
  associatedtype __Value

  /// The value.
  var __value: _BoxedValue<__Value> { get }
}

// The casts of a value cannot fail: generated code names the protocol of the box, or one that it inherits.
extension _ProxyBox {
  /// The box of a protocol that inherits a class-bound one has the members of its proxy, and never runs
  /// them: such targets are objects, which have no box.
  public nonisolated var __forwarder: _ProxyForwarder {
    fatalError("a protocol of objects has no values")
  }

  public var __targetType: Any.Type { __value.type }

  /// The value as one of an inherited protocol, for a requirement that does not change it. nil inside of a
  /// call that changes it.
  @inlinable
  public func __read<Target>(_ selector: @autoclosure () -> Selector) -> Target? {
    if let value = __value.current { return (value as! Target) }
    __value.reportBusy(selector())
    return nil
  }

  /// Moves the value out, for a requirement that changes it. nil inside of another call that does.
  @inlinable
  public func __take<Target>(_ selector: @autoclosure () -> Selector) -> Target? {
    if let value = __value.changing?.take() { return (value as! Target) }
    __value.reportBusy(selector())
    return nil
  }

  /// Moves the value back. A requirement does not change its type.
  @inlinable
  public func __give<Target>(_ value: inout Target) { __value.changing?.give(value as! __Value) }

  /// Stores the copy that an awaited requirement has changed.
  @inlinable
  public func __keep<Target>(_ copy: inout Target) { __value.changing?.keep(copy as! __Value) }
}

/// The value of a box.
///
/// A requirement that changes the value has it for itself, so that nothing in it is copied: a call on another
/// thread waits until it is back. The value is not asked what it calls of itself, through a proxy, inside of
/// such a requirement: the answer is the one without a target, and the event `failed` says so. An awaited
/// requirement that changes the value has a copy, which is stored when it ends.
@_documentation(visibility: internal)
public struct _BoxedValue<Value> {
  @usableFromInline let constant: Value?
  @usableFromInline let changing: ChangingValue<Value>?
  @usableFromInline let type: Any.Type

  /// Boxes a value.
  ///
  /// - Parameter isChanged: whether a requirement changes it. One that none does is read without a lock.
  public init(_ value: Value, isChanged: Bool = false) {
    type = Swift.type(of: value as Any)
    constant = isChanged ? nil : value
    changing = isChanged ? ChangingValue(value) : nil
  }

  /// The value; nil inside of a call that changes it.
  @inlinable public var current: Value? { constant ?? changing?.read() }

  @usableFromInline
  func reportBusy(_ selector: Selector) {
    EventReports.report(.failed(selector, type, ValueIsChanging()))
  }
}

// SAFETY: the value is `Sendable`, and the changing one has a lock.
extension _BoxedValue: @unchecked Sendable where Value: Sendable {}

/// The error of a requirement that a value is asked for inside of a call that changes it.
private struct ValueIsChanging: Error, CustomStringConvertible {
  let description =
    "a method that changes the value is running, so the value cannot answer; the sender gets the answer for no target"
}

/// The value of a box whose calls can change it.
@usableFromInline
final class ChangingValue<Value>: @unchecked Sendable {
  private struct State {
    /// nil while a call changes it.
    var value: Value?
    /// The thread of that call.
    var thread: pthread_t?
  }

  // SAFETY: `Guarded` has a lock.
  private let state: Guarded<State>
  private let isBack = Condition()

  init(_ value: Value) { state = Guarded(State(value: value)) }

  @usableFromInline
  func read() -> Value? { wait { $0.value } }

  @usableFromInline
  func take() -> Value? {
    wait { state in
      let value = state.value.take()
      if value != nil { state.thread = pthread_self() }
      return value
    }
  }

  @usableFromInline
  func give(_ value: Value) {
    state.withLockInPlace { state in
      state = State(value: value)
      isBack.announce()
    }
  }

  @usableFromInline
  func keep(_ copy: Value) {
    // The old value is released after the lock: the `deinit` of a part may use the proxy.
    if take() != nil { give(copy) }
  }

  /// Waits until no other thread has the value; nil if this one has it.
  private func wait(_ body: (inout State) -> Value?) -> Value? {
    state.wait(until: isBack) { state in
      if let thread = state.thread {
        return pthread_equal(thread, pthread_self()) != 0 ? .done(nil) : .until(.max)
      }
      return .done(body(&state))
    }
  }
}
