// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// The calls that the current thread runs for senders on other threads.
package enum Arrivals {
  /// Whether the thread runs one.
  package static var isInside: Bool {
    unsafe fwd_thread().map { unsafe $0.pointee.arrivals > 0 } ?? false
  }

  /// Runs `body` as one more of them.
  @inline(__always)
  package static func with<Result>(_ body: () throws -> Result) rethrows -> Result {
    let thread = unsafe fwd_thread()
    if let thread = unsafe thread { unsafe thread.pointee.arrivals += 1 }
    defer { if let thread = unsafe thread { unsafe thread.pointee.arrivals -= 1 } }
    return try body()
  }
}

extension ListedTarget {
  /// Makes a call that has arrived for a target in the unowned count. Does nothing if the target is
  /// removed or dead. Its registration is told of an error.
  @unsafe
  static func arrive(
    at place: UnsafeMutableRawPointer, _ selector: Selector,
    _ call: (UnsafeMutableRawPointer, ListedTarget) throws -> Void
  ) {
    // Retained to the end: a wait for the end of the registration includes this call.
    guard let held = unsafe swift_tryRetain(place) else { return }
    defer { unsafe swift_release(held) }
    unsafe Unmanaged<ListedTarget>.fromOpaque(held)._withUnsafeGuaranteedRef { member in
      guard !member.isRemoved, let lane = member.notes?.lane else { return }
      lane.arrive {
        do {
          try Arrivals.with { try unsafe member.withAddress { try unsafe call($0, member) } }
        } catch {
          lane.report(error, of: selector, by: member)
        }
      }
    }
  }

  /// Calls an object of this target. Returns false if its class leaves the requirement out.
  ///
  /// - Parameter optional: the selector, if the requirement is optional.
  @unsafe
  @inline(__always)
  func isAnswered(
    _ object: UnsafeMutableRawPointer, _ optional: Selector?, _ body: () throws -> Void
  ) throws -> Bool {
    guard let optional else {
      try body()
      return true
    }
    let thread = unsafe fwd_thread()
    unsafe fwd_forget_left_out(thread)
    var failure: (any Error)?
    do { try body() } catch { failure = error }
    if unsafe fwd_is_left_out(thread, object, UInt64(optional.word)) != 0 {
      // A default implementation without a value to return throws.
      OptionalRequirement.note(leftOut: optional, by: type)
      return false
    }
    if let failure { throw failure }
    return true
  }
}
