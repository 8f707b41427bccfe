// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A value behind a lock, for tests.
///
/// The lock is a pthread mutex: ThreadSanitizer on Linux reports races behind `Synchronization.Mutex` that do not
/// exist.
public final class LockedValue<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  public init(_ value: Value) { self.value = value }

  /// Reads or changes the value.
  public func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
