// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

import Glibc

/// Threads outside of any pool, for code that waits for all of its life.
package enum SystemThread {
  /// The number of the current thread while it runs; 0 if no memory is available for one.
  package static var current: UInt { UInt(bitPattern: unsafe fwd_thread()) }

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Starts a thread. Returns false if the system has none available. All signals are blocked in
  /// it, because they are for the threads of the program.
  package static func begin(_ run: @escaping @Sendable () -> Void) -> Bool {
    var (all, before) = (sigset_t(), sigset_t())
    // SAFETY: the sets live until the calls return.
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    var thread = pthread_t()
    // SAFETY: retained for the thread, which releases it. If there is no thread, it is released
    // below.
    let body = unsafe Unmanaged.passRetained(Body(run))
    let status = unsafe pthread_create(
      &thread, nil,
      { body in
        unsafe Unmanaged<Body>.fromOpaque(body!).takeRetainedValue().run()
        return nil
      }, body.toOpaque())
    guard status == 0 else {
      unsafe body.release()
      return false
    }
    pthread_detach(thread)
    return true
  }
}
