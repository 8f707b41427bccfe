// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
package import Dispatch

/// A queue, called without a block.
///
/// A `DispatchQueue` makes a block of each closure, with an allocation for the block and one for a
/// copy of the closure. That takes half of the time of an enqueued call, and more of a call that is
/// waited for. The functions of libdispatch that take a function and its context need the address of
/// the queue, which a `DispatchQueue` does not tell, but a mirror of it does.
@safe
package struct SystemQueue: @unchecked Sendable {
  // SAFETY: the address is that of `queue`, which retains it.
  private let queue: DispatchQueue
  private let address: UnsafeMutableRawPointer?

  package init(_ queue: DispatchQueue) {
    SwiftRuntime.callsQueues
    self.init(unprobed: queue)
  }

  init(unprobed queue: DispatchQueue) {
    self.queue = queue
    unsafe address = Self.address(of: queue)
  }

  /// A queue that is only called with blocks, as on a system whose queues hide their address.
  package init(withBlocks queue: DispatchQueue) {
    self.queue = queue
    unsafe address = nil
  }

  /// Whether blocks are avoided; for tests.
  package var isCalledWithoutBlocks: Bool { unsafe address != nil }

  private static func address(of queue: DispatchQueue) -> UnsafeMutableRawPointer? {
    let stored = Mirror(reflecting: queue).children.first { $0.label == "__wrapped" }
    return unsafe (stored?.value as? OpaquePointer).map { unsafe UnsafeMutableRawPointer($0) }
  }

  /// Enqueues `work`, which is called once, and takes the object by ``KnownClass/taken(_:as:)``.
  @safe
  package func async(
    _ object: AnyObject, _ work: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void
  ) {
    // SAFETY: only the queue uses the object from here on.
    nonisolated(unsafe) let context = unsafe Unmanaged.passRetained(object).toOpaque()
    if let address = unsafe address { return unsafe fwd_queue_async(address, context, work) }
    queue.async { unsafe work(context) }
  }

  /// Runs `body` on the queue, after the work that was enqueued before, and waits.
  package func sync(_ body: () -> Void) {
    guard let address = unsafe address else { return queue.sync(execute: body) }
    unsafe run(on: address, fwd_queue_sync(), body)
  }
}

/// Runs `body` on a queue, and waits; implemented in C, where a closure that does not escape can be
/// stored without an allocation.
@_silgen_name("fwd_queue_run")
@unsafe
private func run(
  on queue: UnsafeMutableRawPointer, _ sync: FWDQueueSync, _ body: () -> Void)
