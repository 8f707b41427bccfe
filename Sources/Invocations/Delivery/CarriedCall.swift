// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// A message that is carried to a queue: a stored call, with its number and its target behind the
/// image. It retains neither the target nor the registration.
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
    /// The target, in the unowned count.
    let member: UnsafeMutableRawPointer
  }

  fileprivate static func make(_ call: Call, to member: ListedTarget) -> CarriedCall? {
    let message = call.message
    let made = unsafe make(call, extra: MemoryLayout<Journey>.stride) { place in
      let address = unsafe Unmanaged.passUnretained(member).toOpaque()
      _ = unsafe swift_unownedRetain(address)
      unsafe place.initializeMemory(
        as: Journey.self, to: Journey(message: message, member: address))
    }
    return made.map { unsafe unsafeDowncast($0, to: CarriedCall.self) }
  }

  deinit { if isWritten { unsafe swift_unownedRelease(journey.member) } }

  private var journey: Journey { unsafe extra.assumingMemoryBound(to: Journey.self).pointee }

  /// Enqueues the call on a queue, after the work that was enqueued before.
  package func travel(on queue: SystemQueue) {
    unsafe queue.async(Unmanaged.passRetained(self).toOpaque()) { call in
      unsafe Unmanaged<CarriedCall>.fromOpaque(call.unsafelyUnwrapped).takeRetainedValue().arrive()
    }
  }

  private func arrive() {
    unsafe ListedTarget.arrive(at: journey.member, selector) { object, member in
      try unsafe send(to: object, of: member)
    }
  }

  /// Sends the call to an object. The values are borrowed.
  @unsafe
  private func send(to object: UnsafeMutableRawPointer, of member: ListedTarget) throws {
    try withCall { call in
      unsafe call.state.pointee.message = journey.message
      call.setSelector(selector)
      call.receiverWord = UInt64(UInt(bitPattern: object))
      try unsafe call.performKnownMethod(
        of: call.receiver, UInt64(selector.word), isKept: false
      ) { held in
        if case .performed = try unsafe call.performCarefully(held) { return }
        try unsafe sendByInvocation(
          call, to: Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue(), of: member)
      }
    }
  }

  /// Sends the call to an object that may inspect or retain an invocation.
  @inline(never)
  private func sendByInvocation(
    _ call: Call, to target: AnyObject, of member: ListedTarget
  ) throws {
    let invocation = Invocation(call.plan)
    call.receiverWord = 0
    invocation.call.borrow(from: call)
    invocation.retainArguments(includingTarget: false)
    if let step = member.notes?.lane.step { invocation.addToPath(step) }
    try invocation.send(to: target)
  }
}

extension Call {
  /// Copies the call for a target of a class that has a method for it. Returns nil if copying the
  /// values is not enough.
  package func carried(to member: ListedTarget) -> CarriedCall? {
    guard unsafe state.pointee.has_attachments == 0, hasPlainMethod(in: member.type) else {
      return nil
    }
    return CarriedCall.make(self, to: member)
  }

  /// Whether a class is known to have a method that fits and is not `async`.
  private func hasPlainMethod(in type: AnyClass) -> Bool {
    let word = unsafe state.pointee.checked_selector
    guard word != 0, word == slot(1).word, let thread = unsafe fwd_thread(),
      let method = unsafe fwd_method_hold(
        thread, UInt(bitPattern: ObjectIdentifier(type)), UInt(word))
    else { return false }
    defer { unsafe fwd_let_go(thread) }
    guard unsafe method.pointee.plan == facts.pointee.identity,
      let implementation = unsafe method.pointee.implementation
    else { return false }
    return unsafe Unmanaged<Implementation>.fromOpaque(implementation)._withUnsafeGuaranteedRef {
      !$0.isAwaited
    }
  }
}
