// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// A compact call without a result, for calls that are made later. One object with the words of the
/// call and the values that they refer to.
///
/// An ``Invocation`` can be changed, but takes four times the memory.
@safe
package final class PackedCall: ManagedBuffer<PackedCall.Header, PackedCall.Piece> {
  // SAFETY: written before it is shared, and only read afterwards. It owns the values that its
  // words refer to, and `deinit` releases them.

  @safe
  package struct Header {
    /// The plan, retained.
    fileprivate let plan: Unmanaged<CallPlan>
    /// Padding. With the object header of two words, the elements are aligned to 16 bytes, as the
    /// allocation is.
    fileprivate let reserved: UInt64 = 0
  }

  /// A word, so that only the usual alignment is requested. A larger one makes allocation slower.
  package typealias Piece = UInt64

  /// Copies a call, and copies or retains its values.
  fileprivate static func make(_ call: Call, _ plan: CallPlan) -> PackedCall {
    let made = create(minimumCapacity: plan.carriage.size / MemoryLayout<Piece>.size) { _ in
      unsafe Header(plan: .passRetained(plan))
    }
    let packed = unsafe unsafeDowncast(made, to: PackedCall.self)
    unsafe packed.memory.copyMemory(from: call.frame, byteCount: plan.carriage.wordBytes)
    // The target is set when the call is sent.
    unsafe packed.memory.storeBytes(of: 0, toByteOffset: Carriage.receiver, as: UInt64.self)
    if plan.carriage.isKeeping { unsafe plan.carriage.keep(in: packed.memory) }
    return packed
  }

  deinit {
    let plan = unsafe plan
    unsafe plan._withUnsafeGuaranteedRef { plan in
      if plan.carriage.isKeeping { unsafe plan.carriage.letGo(in: memory) }
    }
    unsafe plan.release()
  }

  // Addresses, because accesses to a buffer's properties are checked for exclusivity at run time.

  @unsafe
  private var plan: Unmanaged<CallPlan> {
    unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.plan }
  }

  @unsafe
  private var memory: UnsafeMutableRawPointer {
    unsafe withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
  }

  /// The selector of the message.
  package var selector: Selector {
    unsafe Selector(word: memory.load(fromByteOffset: Carriage.selector, as: UInt.self))
  }

  /// Sends the call to an object, which the caller retains. The values are borrowed.
  ///
  /// - Throws: The error of the method, or ``InvocationError`` if the object does not take the
  ///   message.
  package func send(to target: AnyObject) throws {
    try unsafe plan._withUnsafeGuaranteedRef { plan in
      try unsafe withUnsafeTemporaryAllocation(
        byteCount: MemoryLayout<FWDScopedFrame>.size, alignment: 16
      ) { scoped in
        // SAFETY: a packed call passes all arguments in registers, so its frame fits the
        // allocation.
        let call = unsafe Call(setting: plan.facts, at: scoped.baseAddress.unsafelyUnwrapped)
        unsafe call.frame.copyMemory(from: memory, byteCount: plan.carriage.wordBytes)
        try call.send(compared: selector, to: target)
      }
    }
  }

  /// Makes an invocation that owns its arguments, without a target.
  package func invocation() -> Invocation {
    unsafe plan._withUnsafeGuaranteedRef { plan in
      let invocation = Invocation(plan)
      unsafe invocation.call.frame.copyMemory(from: memory, byteCount: plan.carriage.wordBytes)
      invocation.call.setSelector(selector)
      invocation.keepArguments()
      return invocation
    }
  }
}

extension Call {
  /// Packs the call; nil if copying its values is not enough to make it later.
  package func packed() -> PackedCall? {
    unsafe unmanagedPlan._withUnsafeGuaranteedRef { plan in
      plan.carriage.size > 0 ? PackedCall.make(self, plan) : nil
    }
  }
}

extension Invocation {
  /// Packs the call without its target; see `Call.packed()`.
  package func packed() -> PackedCall? { call.packed() }
}
