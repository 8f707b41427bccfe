import CForwardingShims

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A value behind a lock of its own, under which a thread may wait for the system, as for a disk. The locks of
/// ``Guarded`` are for moments only: many objects share each, and forks wait for all.
///
/// A fork does not wait for it, so a child process may find it locked for good: who uses one first asks whether
/// the process is the one that made it.
@safe
package final class OwnLock<Value>: @unchecked Sendable {
  // SAFETY: the value is reached only between lock and unlock; mutex and condition live as long as this.
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

  /// Changes the value where it is.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try unsafe body(&value)
  }

  /// Changes the value as soon as `body` returns a result, and waits while it returns nil: it runs again
  /// whenever a change is announced.
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

  /// Changes the value, and wakes those who wait.
  package func announce<Result>(_ body: (inout Value) -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer {
      unsafe pthread_cond_broadcast(condition)
      unsafe pthread_mutex_unlock(mutex)
    }
    return unsafe body(&value)
  }
}
