#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Threads that belong to no pool, for what waits all of its life.
package enum SystemThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Begins a thread; false if the system has none to give. It gets no signals, which are for the threads of the
  /// program.
  package static func begin(_ run: @escaping @Sendable () -> Void) -> Bool {
    var (all, before) = (sigset_t(), sigset_t())
    // SAFETY: the sets live until the calls return.
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    // SAFETY: retained for the thread, which lets go of it, or here if there is none.
    let body = unsafe Unmanaged.passRetained(Body(run))
    let status = unsafe pthread_create(
      &thread, nil,
      { body in
        #if canImport(Darwin)
          unsafe Unmanaged<Body>.fromOpaque(body).takeRetainedValue().run()
        #else
          unsafe Unmanaged<Body>.fromOpaque(body!).takeRetainedValue().run()
        #endif
        return nil
      }, body.toOpaque())
    guard status == 0 else {
      unsafe body.release()
      return false
    }
    #if canImport(Darwin)
      unsafe pthread_detach(thread!)
    #else
      pthread_detach(thread)
    #endif
    return true
  }
}
