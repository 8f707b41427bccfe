// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A value with a lock of its own, under which a thread may wait for the system, such as for a
/// disk. Locks of `Guarded` must only be held for short times, because many objects share each
/// lock, and forks wait for all of them.
///
/// A fork does not wait for this lock, so it may stay locked forever in a child process. Callers
/// must first check that the process is the one that made the lock.
@safe
package final class BlockingMutex<Value>: @unchecked Sendable {
  // SAFETY: the value is only accessed between lock and unlock. The mutex and the condition live as
  // long as this object.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  @exclusivity(unchecked) private var value: Value

  package init(_ value: Value) {
    unsafe self.value = value
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
    unsafe condition = .allocate(capacity: 1)
    unsafe condition.initialize(to: pthread_cond_t())
    unsafe pthread_cond_init(condition, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Changes the value in place.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try unsafe body(&value)
  }

  /// Runs `body` until it returns a result. While it returns nil, waits, and runs it again whenever
  /// a change is announced.
  package func wait<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result?
  ) throws(Failure) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = try unsafe body(&value) { return result }
      unsafe pthread_cond_wait(condition, mutex)
    }
  }

  /// Changes the value, and wakes the waiting threads.
  package func announce<Result>(_ body: (inout Value) -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer {
      unsafe pthread_cond_broadcast(condition)
      unsafe pthread_mutex_unlock(mutex)
    }
    return unsafe body(&value)
  }
}
