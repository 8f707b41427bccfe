// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

import Glibc

/// A value with a lock of its own.
///
/// A pthread mutex, because ThreadSanitizer on Linux does not understand `Synchronization.Mutex`
/// and reports false races, and because threads wait for conditions under it.
///
/// No code of users may run while the lock is held, including the `deinit`s of their objects.
/// ``withLock(_:)`` retains the old value until the lock is released; the body of
/// ``withLockInPlace(_:)`` returns everything that it removes.
@safe
package final class Guarded<Value>: @unchecked Sendable {
  // SAFETY: the value is only accessed between lock and unlock. The lock is only accessed by its address,
  // which is that of the first property of an object; `fwd_swift.h` says who else relies on that.
  private let lock = unsafe pthread_mutex_t()
  private var mutex: UnsafeMutablePointer<pthread_mutex_t> {
    unsafe (Unmanaged.passUnretained(self).toOpaque() + Int(FWD_OBJECT_HEADER))
      .assumingMemoryBound(to: pthread_mutex_t.self)
  }
  // Unchecked, because the lock already excludes concurrent access, and a dynamic check costs as
  // much as the lock.
  @exclusivity(unchecked) private var value: Value

  package init(_ value: Value) { unsafe self.value = value }

  /// Reads the value under the lock.
  package func read<Result, Failure: Error>(
    _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let mutex = unsafe mutex
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    // ThreadSanitizer takes a change of an empty value for one of the object's header.
    if MemoryLayout<Value>.size == 0 { return try unsafe body(value) }
    return try unsafe Self.lend(&value, to: body)
  }

  /// Lends the value to a closure. A property of an object would be copied for the call, as other
  /// code could change it meanwhile; an `inout` parameter is not.
  @inline(__always)
  private static func lend<Result, Failure: Error>(
    _ value: inout Value, to body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result { try body(value) }

  /// Changes the value. The old value is retained until the lock is released, so no object dies
  /// under the lock, and a collection that `body` changes is copied. Use ``withLockInPlace(_:)``
  /// for collections that grow: *n* changes here would copy O(*n*²) elements.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let mutex = unsafe mutex
    unsafe pthread_mutex_lock(mutex)
    let before = unsafe value
    defer {
      unsafe pthread_mutex_unlock(mutex)
      withExtendedLifetime(before) {}
    }
    return try unsafe body(&value)
  }

  /// Changes the value in place, for collections that are too large to copy. `body` must not drop a
  /// possibly last reference to a user's object; it returns such references.
  package func withLockInPlace<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let mutex = unsafe mutex
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try unsafe body(&value)
  }
}

extension Guarded {
  /// The next step of a wait.
  package enum Waiting<Result> {
    case done(Result)
    /// Runs the body again after an announcement, or at a time: in nanoseconds of the monotonic
    /// clock, or `.max`.
    case until(UInt64)
  }

  /// Runs `body` until it is done: whenever `change` is announced, or at the time that it returned.
  /// Opens no file, unlike most timers.
  package func wait<Result, Failure: Error>(
    until change: Condition, _ body: (inout Value) throws(Failure) -> Waiting<Result>
  ) throws(Failure) -> Result {
    let mutex = unsafe mutex
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      switch try unsafe body(&value) {
      case .done(let result): return result
      case .until(.max): unsafe pthread_cond_wait(change.condition, mutex)
      case .until(let time): unsafe change.wait(mutex, until: time)
      }
    }
  }
}

/// Wakes threads that wait for a change of a guarded value.
@safe
package final class Condition: @unchecked Sendable {
  // SAFETY: used only under the lock of the value, and so is the condition that it points to.
  fileprivate let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  package init() {
    unsafe condition.initialize(to: pthread_cond_t())
    // The times of waits are those of the monotonic clock.
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  /// Waits for the next announcement, or for a time.
  fileprivate func wait(_ mutex: UnsafeMutablePointer<pthread_mutex_t>, until time: UInt64) {
    var end = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
    unsafe pthread_cond_timedwait(condition, mutex, &end)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe condition.deallocate()
  }

  /// Wakes the waiting threads. The caller holds the lock of the value.
  package func announce() { unsafe pthread_cond_broadcast(condition) }
}

/// A value that a function lends to its thread.
@safe
package final class ThreadLocal<Value: AnyObject>: @unchecked Sendable {
  // SAFETY: made once. The function that lends a value retains it meanwhile.
  private let key: pthread_key_t

  package init() {
    var key = pthread_key_t()
    let status = unsafe pthread_key_create(&key, nil)
    precondition(
      status == 0,
      "the process has no thread-specific keys left (pthread_key_create); this package needs three"
    )
    self.key = key
  }

  /// The value of the current thread.
  package var value: Value? {
    guard let value = unsafe pthread_getspecific(key) else { return nil }
    return unsafe Unmanaged<Value>.fromOpaque(value).takeUnretainedValue()
  }

  /// Whether the current thread has a value. Cheaper than reading it.
  package var isSet: Bool { unsafe pthread_getspecific(key) != nil }

  /// Runs `body` while the current thread has another value.
  package func with<Result>(_ other: Value, _ body: () throws -> Result) rethrows -> Result {
    let before = unsafe pthread_getspecific(key)
    unsafe pthread_setspecific(key, Unmanaged.passUnretained(other).toOpaque())
    defer { unsafe pthread_setspecific(key, before) }
    return try withExtendedLifetime(other) { try body() }
  }
}
