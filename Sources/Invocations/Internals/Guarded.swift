import CForwardingShims

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A value behind a lock: the one lock type of the package.
///
/// A pthread mutex, because ThreadSanitizer on Linux does not see through `Synchronization.Mutex`
/// and reports races where there are none. It is one of a few that all values share, so that forks
/// can wait for all of them (`fwd_locks.h`).
///
/// No code of users may run while the lock is held, a `deinit` of their objects included.
/// ``withLock(_:)`` keeps what it replaces until the lock is let go; the body of
/// ``withLockInPlace(_:)`` returns what it takes out.
@safe
package final class Guarded<Value>: @unchecked Sendable {
  // SAFETY: the value is reached only between lock and unlock, and the mutex is there for good.
  var mutex: UnsafeMutablePointer<pthread_mutex_t> {
    unsafe fwd_lock_of(Unmanaged.passUnretained(self).toOpaque())
  }
  // Two accesses at a time would wait for each other; to check that again at run time costs as much as the lock.
  @exclusivity(unchecked) private var value: Value

  package init(_ value: Value) { unsafe self.value = value }

  /// Looks at the value.
  package func read<Result, Failure: Error>(
    _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let mutex = unsafe mutex
    unsafe fwd_lock(mutex)
    defer { unsafe fwd_unlock(mutex) }
    return try unsafe body(value)
  }

  /// Changes the value. The value as it was is kept until the lock is let go, so nothing dies under
  /// it; a collection that `body` changes is copied for that. One that grows is changed in place: else n
  /// changes take as long as n² elements.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let mutex = unsafe mutex
    unsafe fwd_lock(mutex)
    let before = unsafe value
    defer {
      unsafe fwd_unlock(mutex)
      withExtendedLifetime(before) {}
    }
    return try unsafe body(&value)
  }

  /// Changes the value where it is, for collections that are too large to be copied. `body` drops
  /// nothing that may be the last reference to a user's object: it returns such things.
  package func withLockInPlace<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let mutex = unsafe mutex
    unsafe fwd_lock(mutex)
    defer { unsafe fwd_unlock(mutex) }
    return try unsafe body(&value)
  }

  /// Changes the value where it is as soon as `body` returns a result, and waits while it returns
  /// nil: `body` runs again whenever `change` is announced.
  func wait<Result>(for change: Announcement, _ body: (inout Value) -> Result?) -> Result {
    wait(until: change) { value in body(&value).map { .done($0) } ?? .until(.max) }
  }
}

extension Guarded {
  /// What somebody who waits for a value does next.
  package enum Waiting<Result> {
    case done(Result)
    /// Look again when a change is announced, or at a time: nanoseconds of the clock that never goes back, or `.max`.
    case until(UInt64)
  }

  /// Changes the value where it is whenever `change` is announced or the time has come that `body` has said, until
  /// `body` is done. No file is opened for it, as most timers do.
  package func wait<Result>(
    until change: Announcement, _ body: (inout Value) -> Waiting<Result>
  ) -> Result {
    let mutex = unsafe mutex
    unsafe fwd_lock(mutex)
    defer { unsafe fwd_unlock(mutex) }
    while true {
      switch unsafe body(&value) {
      case .done(let result): return result
      case .until(.max): unsafe pthread_cond_wait(change.condition, mutex)
      case .until(let time): unsafe change.wait(mutex, until: time)
      }
    }
  }
}

/// Tells those who wait that a guarded value has changed.
@safe
package final class Announcement: @unchecked Sendable {
  // SAFETY: used under the lock of the value alone, as is what it points at.
  private var made: UnsafeMutablePointer<pthread_cond_t>
  private var process = getpid()

  package init() { unsafe made = Self.make() }

  /// The condition of this process. A child gets another one: the condition of its parent knows
  /// threads that wait and that the child does not have, and would wait for them.
  fileprivate var condition: UnsafeMutablePointer<pthread_cond_t> {
    if process != getpid() {
      process = getpid()
      unsafe made = Self.make()
    }
    return unsafe made
  }

  private static func make() -> UnsafeMutablePointer<pthread_cond_t> {
    let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    unsafe condition.initialize(to: pthread_cond_t())
    #if canImport(Darwin)
      unsafe pthread_cond_init(condition, nil)
    #else
      // Times are those of a clock that nobody sets.
      var attributes = pthread_condattr_t()
      unsafe pthread_condattr_init(&attributes)
      unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      unsafe pthread_cond_init(condition, &attributes)
      unsafe pthread_condattr_destroy(&attributes)
    #endif
    return unsafe condition
  }

  /// Waits for the next announcement, or for a time.
  fileprivate func wait(_ mutex: UnsafeMutablePointer<pthread_mutex_t>, until time: UInt64) {
    #if canImport(Darwin)
      let now = clock_gettime_nsec_np(CLOCK_UPTIME_RAW)
      let left = time > now ? time - now : 0
      var end = timespec(tv_sec: Int(left / 1_000_000_000), tv_nsec: Int(left % 1_000_000_000))
      unsafe pthread_cond_timedwait_relative_np(condition, mutex, &end)
    #else
      var end = timespec(tv_sec: Int(time / 1_000_000_000), tv_nsec: Int(time % 1_000_000_000))
      unsafe pthread_cond_timedwait(condition, mutex, &end)
    #endif
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe condition.deallocate()
  }

  /// Wakes those who wait. The lock of the value is held.
  package func announce() { unsafe pthread_cond_broadcast(condition) }
}

/// A value that each thread has for itself, and that dies with the thread.
@safe
package final class ThreadLocal<Value: AnyObject>: @unchecked Sendable {
  // SAFETY: made once; what a thread stores behind it is retained, and released by the destructor.
  private let key: pthread_key_t

  package init() {
    var key = pthread_key_t()
    let status = unsafe pthread_key_create(&key) { value in
      // Darwin declares the parameter as not optional, Linux as optional.
      let value: UnsafeMutableRawPointer? = unsafe value
      if let value = unsafe value { unsafe Unmanaged<AnyObject>.fromOpaque(value).release() }
    }
    precondition(status == 0, "no key for the values of threads is left; this package takes four")
    self.key = key
  }

  /// The value of the current thread.
  package var value: Value? {
    get {
      unsafe pthread_getspecific(key).map {
        unsafe Unmanaged<Value>.fromOpaque($0).takeUnretainedValue()
      }
    }
    set {
      let old = unsafe pthread_getspecific(key)
      let new = unsafe newValue.map { unsafe Unmanaged.passRetained($0).toOpaque() }
      unsafe pthread_setspecific(key, new)
      if let old = unsafe old { unsafe Unmanaged<Value>.fromOpaque(old).release() }
    }
  }

  /// Whether the current thread has a value; cheaper to ask than which.
  package var isSet: Bool { unsafe pthread_getspecific(key) != nil }

  /// Runs `body` while the thread has another value.
  package func with<Result>(_ other: Value?, _ body: () throws -> Result) rethrows -> Result {
    let before = value
    value = other
    defer { value = before }
    return try body()
  }
}
