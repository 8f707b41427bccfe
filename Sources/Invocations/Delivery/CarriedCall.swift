// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
package import Dispatch

/// The destination of calls that are carried to another thread. A carried call does not retain it.
package protocol CallRoute: AnyObject, Sendable {
  /// The object that represents the delivery among the forwarding steps of the receiving threads.
  var step: AnyObject? { get }
  /// Sends the call on, on the thread that it was carried to.
  func arrive(_ call: CarriedCall)
}

/// A stored call that is carried to another thread, with its number and its route behind the image.
///
/// An invocation would need an object of its own, one for its frame and one for each value. With
/// invocations, queued messages took nine times as long as an equivalent closure.
@safe
package final class CarriedCall: StoredCall {
  // SAFETY: the one thread that it arrives on uses it. `deinit` gives back the unowned count.

  @safe
  private struct Journey {
    /// The number of the message.
    let message: UInt64
    /// The route, in the unowned count.
    let route: UnsafeMutableRawPointer
    let routeType: any CallRoute.Type
  }

  fileprivate static func make(_ call: Call, _ route: some CallRoute) -> CarriedCall? {
    let message = call.message
    let made = unsafe make(call, extra: MemoryLayout<Journey>.stride) { place in
      let address = unsafe Unmanaged.passUnretained(route).toOpaque()
      _ = unsafe swift_unownedRetain(address)
      unsafe place.initializeMemory(
        as: Journey.self,
        to: Journey(message: message, route: address, routeType: type(of: route)))
    }
    return made.map { unsafe unsafeDowncast($0, to: CarriedCall.self) }
  }

  deinit { if isWritten { unsafe swift_unownedRelease(journey.route) } }

  private var journey: Journey { unsafe extra.assumingMemoryBound(to: Journey.self).pointee }

  /// Enqueues the arrival on a queue, after the work that was enqueued before.
  package func travel(on queue: DispatchQueue) {
    // SAFETY: only the queue uses the object from here on. A closure that captures one object
    // allocates nothing.
    nonisolated(unsafe) let carried = self
    queue.async { unsafe carried.arrive(carried.journey.routeType) }
  }

  /// Whether the current thread is running a message that was carried to it.
  package static var isInside: Bool {
    unsafe fwd_thread().map { unsafe $0.pointee.arrivals > 0 } ?? false
  }

  private func arrive<Route: CallRoute>(_ type: Route.Type) {
    // SAFETY: the route was of this type when it sent the call.
    guard let route = unsafe swift_tryRetain(journey.route) else { return }
    let thread = unsafe fwd_thread()
    if let thread = unsafe thread { unsafe thread.pointee.arrivals += 1 }
    let held = unsafe Unmanaged<Route>.fromOpaque(route)
    unsafe held._withUnsafeGuaranteedRef { $0.arrive(self) }
    if let thread = unsafe thread { unsafe thread.pointee.arrivals -= 1 }
    // Released at the end, because code that waits for the end of a registration waits for this
    // release.
    unsafe held.release()
  }

  /// Sends the call to a target, if it is alive. The values are borrowed.
  package func send(to target: ListedTarget) throws {
    try unsafe target.withAddress { try unsafe send(to: $0) }
  }

  @unsafe
  private func send(to target: UnsafeMutableRawPointer) throws {
    try withCall { call in
      unsafe call.state.pointee.message = journey.message
      call.setSelector(selector)
      call.receiverWord = UInt64(UInt(bitPattern: target))
      try unsafe call.performKnownMethod(
        of: call.receiver, UInt64(selector.word), isKept: false
      ) { held in
        if case .performed = try unsafe call.performCarefully(held) { return }
        try unsafe sendByInvocation(
          call, to: Unmanaged<AnyObject>.fromOpaque(target).takeUnretainedValue())
      }
    }
  }

  /// Sends the call to an object that may inspect or retain an invocation.
  @inline(never)
  private func sendByInvocation(_ call: Call, to target: AnyObject) throws {
    let invocation = Invocation(call.plan)
    call.receiverWord = 0
    invocation.call.borrow(from: call)
    invocation.retainArguments(includingTarget: false)
    if let step = step(of: journey.routeType) { invocation.addToPath(step) }
    try invocation.send(to: target)
  }

  private func step<Route: CallRoute>(of type: Route.Type) -> AnyObject? {
    // SAFETY: `arrive` retains the route, which is of this type.
    unsafe Unmanaged<Route>.fromOpaque(journey.route)._withUnsafeGuaranteedRef { $0.step }
  }
}

extension Call {
  /// Copies the call to another thread, for an object of a class that has a method for it. Returns
  /// nil if copying the values is not enough.
  package func carried(to type: AnyClass, by route: some CallRoute) -> CarriedCall? {
    guard unsafe state.pointee.has_attachments == 0, hasPlainMethod(in: type) else { return nil }
    return CarriedCall.make(self, route)
  }

  /// Whether a class is known to have a method that fits and is not `async`.
  package func hasPlainMethod(in type: AnyClass) -> Bool {
    let word = unsafe state.pointee.checked_selector
    guard word != 0, word == slot(1).word, let thread = unsafe fwd_thread(),
      let method = unsafe fwd_method_hold(
        thread, UInt(bitPattern: ObjectIdentifier(type)), UInt(word))
    else { return false }
    defer { unsafe fwd_let_go(thread) }
    return unsafe isPlain(method)
  }

  @unsafe
  private func isPlain(_ method: UnsafePointer<FWDMethod>) -> Bool {
    guard unsafe method.pointee.plan == facts.pointee.identity,
      let implementation = unsafe method.pointee.implementation
    else { return false }
    return unsafe Unmanaged<Implementation>.fromOpaque(implementation)._withUnsafeGuaranteedRef {
      !$0.isAwaited
    }
  }

  /// Performs the method that a target's class is known to have, on this thread, while the sender
  /// waits. If the method throws, the result of an earlier target stays.
  ///
  /// - Returns: false if no such method is known or the target has died; then nothing was done.
  package func performWaited(on target: ListedTarget) throws -> Bool {
    var isPerformed = false
    try unsafe target.withAddress { address in
      let held = unsafe fwd_method_held(
        UInt(bitPattern: ObjectIdentifier(target.type)), slot(1).word)
      guard let method = unsafe held.method, let thread = unsafe held.thread,
        let hold = unsafe held.hold
      else { return }
      defer { unsafe fwd_let_go_from(thread, hold, 0) }
      guard unsafe isPlain(method) else { return }
      isPerformed = true
      unsafe thread.pointee.arrivals += 1
      let before = receiverWord
      receiverWord = UInt64(UInt(bitPattern: address))
      defer {
        receiverWord = before
        unsafe thread.pointee.arrivals -= 1
      }
      try unsafe performKeepingResult(method)
    }
    return isPerformed
  }
}
