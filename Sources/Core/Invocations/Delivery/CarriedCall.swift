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

/// A call without a result that is carried to another thread: its words, and the values that they
/// refer to, in one object.
///
/// An invocation would need an object of its own, one for its frame and one for each value. With
/// invocations, queued messages took nine times as long as an equivalent closure.
@safe
package final class CarriedCall: ManagedBuffer<CarriedCall.Header, CarriedCall.Piece> {
  // SAFETY: written before it is shared, and then read by the one thread that it arrives on. It
  // owns the values that its words refer to, and `deinit` releases them.

  @safe
  package struct Header {
    /// The plan, retained.
    fileprivate let plan: Unmanaged<CallPlan>
    fileprivate let message: UInt64
    /// The route, in the unowned count.
    fileprivate let route: UnsafeMutableRawPointer
    fileprivate let routeType: any CallRoute.Type
  }

  /// A type with the alignment of values, 16 bytes.
  package typealias Piece = SIMD2<UInt64>

  /// Copies a call, and copies or retains its values.
  fileprivate static func make(
    _ call: Call, _ plan: CallPlan, _ route: some CallRoute
  ) -> CarriedCall {
    let message = call.message
    let made = create(minimumCapacity: plan.carriage.size / MemoryLayout<Piece>.size) { _ in
      let address = unsafe Unmanaged.passUnretained(route).toOpaque()
      _ = unsafe swift_unownedRetain(address)
      return unsafe Header(
        plan: .passRetained(plan), message: message, route: address, routeType: type(of: route))
    }
    let carried = unsafe unsafeDowncast(made, to: CarriedCall.self)
    unsafe carried.memory.copyMemory(from: call.frame, byteCount: plan.carriage.wordBytes)
    if plan.carriage.isKeeping { unsafe plan.carriage.keep(in: carried.memory) }
    return carried
  }

  deinit {
    let head = unsafe head
    unsafe head.plan._withUnsafeGuaranteedRef { plan in
      if plan.carriage.isKeeping { unsafe plan.carriage.letGo(in: memory) }
    }
    unsafe head.plan.release()
    unsafe swift_unownedRelease(head.route)
  }

  // Addresses, because accesses to a buffer's properties are checked for exclusivity at run time.

  @unsafe
  private var head: Header { unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee } }

  @unsafe
  private var memory: UnsafeMutableRawPointer {
    unsafe withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
  }

  /// Enqueues the arrival on a queue, after the work that was enqueued before.
  package func travel(on queue: DispatchQueue) {
    // SAFETY: only the queue uses the object from here on. A closure that captures one object
    // allocates nothing.
    nonisolated(unsafe) let carried = self
    queue.async { unsafe carried.arrive(carried.head.routeType) }
  }

  /// Whether the current thread is running a message that was carried to it.
  package static var isInside: Bool {
    unsafe fwd_thread().map { unsafe $0.pointee.arrivals > 0 } ?? false
  }

  private func arrive<Route: CallRoute>(_ type: Route.Type) {
    // SAFETY: the route was of this type when it sent the call.
    guard let route = unsafe swift_tryRetain(head.route) else { return }
    let thread = unsafe fwd_thread()
    if let thread = unsafe thread { unsafe thread.pointee.arrivals += 1 }
    let held = unsafe Unmanaged<Route>.fromOpaque(route)
    unsafe held._withUnsafeGuaranteedRef { $0.arrive(self) }
    if let thread = unsafe thread { unsafe thread.pointee.arrivals -= 1 }
    // Released at the end, because code that waits for the end of a registration waits for this
    // release.
    unsafe held.release()
  }

  /// The selector of the message.
  package var selector: Selector {
    unsafe Selector(word: memory.load(fromByteOffset: Carriage.selector, as: UInt.self))
  }

  /// Sends the call to a target, if it is alive. The values are borrowed.
  package func send(to target: ListedTarget) throws {
    try unsafe target.withAddress { try unsafe send(to: $0) }
  }

  @unsafe
  private func send(to target: UnsafeMutableRawPointer) throws {
    let head = unsafe head
    try unsafe head.plan._withUnsafeGuaranteedRef { plan in
      try unsafe withUnsafeTemporaryAllocation(
        byteCount: MemoryLayout<FWDScopedFrame>.size, alignment: 16
      ) { scoped in
        // SAFETY: a carried call passes all arguments in registers, so its frame fits the
        // allocation.
        let call = unsafe Call(plan.facts, at: scoped.baseAddress.unsafelyUnwrapped)
        defer { call.finish() }
        unsafe call.frame.copyMemory(from: memory, byteCount: plan.carriage.wordBytes)
        unsafe call.state.pointee.message = head.message
        let selector = selector
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
  }

  /// Sends the call to an object that may inspect or retain an invocation.
  @inline(never)
  private func sendByInvocation(_ call: Call, to target: AnyObject) throws {
    let invocation = Invocation(call.plan)
    call.receiverWord = 0
    invocation.call.borrow(from: call)
    invocation.retainArguments(includingTarget: false)
    if let step = step(of: unsafe head.routeType) { invocation.addToPath(step) }
    try invocation.send(to: target)
  }

  private func step<Route: CallRoute>(of type: Route.Type) -> AnyObject? {
    // SAFETY: `arrive` retains the route, which is of this type.
    unsafe Unmanaged<Route>.fromOpaque(head.route)._withUnsafeGuaranteedRef { $0.step }
  }
}

extension Call {
  /// Copies the call to another thread, for an object of a class that has a method for it. Returns
  /// nil if copying the values is not enough.
  package func carried(to type: AnyClass, by route: some CallRoute) -> CarriedCall? {
    guard unsafe state.pointee.has_attachments == 0, hasPlainMethod(in: type) else { return nil }
    return unsafe unmanagedPlan._withUnsafeGuaranteedRef { plan in
      plan.carriage.size > 0 ? CarriedCall.make(self, plan, route) : nil
    }
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
