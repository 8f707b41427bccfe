// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A value with a lock of its own, under which a thread may wait for the system, such as for a
/// disk. Locks of `Guarded` are only held for short times.
package final class BlockingMutex<Value>: @unchecked Sendable {
  // The value is only accessed under the lock.
  private var value: Value
  private let lock = NSCondition()

  package init(_ value: Value) { self.value = value }

  /// Changes the value in place.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }

  /// Runs `body` until it returns a result. While it returns nil, waits, and runs it again whenever
  /// a change is announced.
  package func wait<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result?
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    while true {
      if let result = try body(&value) { return result }
      lock.wait()
    }
  }

  /// Changes the value, and wakes the waiting threads.
  package func announce<Result>(_ body: (inout Value) -> Result) -> Result {
    defer { lock.broadcast() }
    return withLock(body)
  }
}
