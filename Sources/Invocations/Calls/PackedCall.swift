import CForwardingShims

/// A call without a result that is kept to be made later, in one object: its words, and the values that they refer to.
///
/// An invocation is ready to be changed and made, and takes four times the memory.
@safe
package final class PackedCall: ManagedBuffer<PackedCall.Header, PackedCall.Piece> {
  // SAFETY: written before anybody else has it, and then only read. What its words refer to is its own, and ended by
  // `deinit`.

  @safe
  package struct Header {
    /// Retained.
    fileprivate let plan: Unmanaged<CallPlan>
    /// Behind two words of an object and two of these, values are aligned to 16, as memory is.
    fileprivate let reserved: UInt64 = 0
  }

  /// A word, so that no more than the usual alignment is asked for: that would take longer.
  package typealias Piece = UInt64

  /// Copies a call, and keeps what it refers to.
  fileprivate static func make(_ call: Call, _ plan: CallPlan) -> PackedCall {
    let made = create(minimumCapacity: plan.carriage.size / MemoryLayout<Piece>.size) { _ in
      unsafe Header(plan: .passRetained(plan))
    }
    let packed = unsafe unsafeDowncast(made, to: PackedCall.self)
    unsafe packed.memory.copyMemory(from: call.frame, byteCount: plan.carriage.wordBytes)
    // Its target is whom it is sent to.
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

  // As addresses: to look at a property of a buffer is checked for exclusivity at run time.

  @unsafe
  private var plan: Unmanaged<CallPlan> {
    unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.plan }
  }

  @unsafe
  private var memory: UnsafeMutableRawPointer {
    unsafe withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
  }

  /// The message's name.
  package var selector: Selector {
    unsafe Selector(word: memory.load(fromByteOffset: Carriage.selector, as: UInt.self))
  }

  /// Sends it to an object, which the caller holds. What it refers to is lent.
  package func send(to target: AnyObject) throws {
    try unsafe plan._withUnsafeGuaranteedRef { plan in
      try unsafe withUnsafeTemporaryAllocation(
        byteCount: MemoryLayout<FWDScopedFrame>.size, alignment: 16
      ) { scoped in
        // SAFETY: a call that is packed has nothing but registers, so there is room for its frame.
        let call = unsafe Call(setting: plan.facts, at: scoped.baseAddress.unsafelyUnwrapped)
        unsafe call.frame.copyMemory(from: memory, byteCount: plan.carriage.wordBytes)
        try call.send(compared: selector, to: target)
      }
    }
  }

  /// The call as an invocation that owns its arguments, without a target.
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
  /// Packs the call; nil where that takes more than to copy its values.
  package func packed() -> PackedCall? {
    unsafe unmanagedPlan._withUnsafeGuaranteedRef { plan in
      plan.carriage.size > 0 ? PackedCall.make(self, plan) : nil
    }
  }
}

extension Invocation {
  /// Packs the call that it keeps, without the target.
  package func packed() -> PackedCall? { call.packed() }
}
