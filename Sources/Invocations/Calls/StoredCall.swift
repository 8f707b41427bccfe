// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// A call without a result that is made later: its plan, its selector, and the image of its
/// arguments, in one object.
///
/// An ``Invocation`` can be changed, but takes several times the memory.
@safe
package final class StoredCall: ManagedBuffer<StoredCall.Header, StoredCall.Piece> {
  // SAFETY: written before it is shared, and only read afterwards. It owns the values of its image,
  // and `deinit` releases them.

  @safe
  package struct Header {
    /// The plan, retained; nil if the image was not written.
    fileprivate var plan: Unmanaged<CallPlan>?
    fileprivate let selector: Selector
  }

  /// A word, so that only the usual alignment is requested: a larger one makes allocation slower.
  /// With the object's and this class's header of two words each, an image is aligned to 16 bytes,
  /// as the allocation is.
  package typealias Piece = UInt64

  /// Keeps a call in an object. Returns nil if an image is not enough to make the call later, or a
  /// value is missing.
  package static func make(_ call: Call) -> StoredCall? {
    let plan = unsafe call.unmanagedPlan
    return unsafe plan._withUnsafeGuaranteedRef { kept -> StoredCall? in
      guard kept.image.isEnough, let selector = call.selector else { return nil }
      let made = create(minimumCapacity: kept.image.size / MemoryLayout<Piece>.size) { _ in
        unsafe Header(plan: nil, selector: selector)
      }
      let stored = unsafe unsafeDowncast(made, to: StoredCall.self)
      let image = unsafe stored.image
      do throws(InvocationError) { try unsafe kept.image.capture(call, into: image) } catch {
        return nil
      }
      unsafe stored.withUnsafeMutablePointerToHeader { unsafe $0.pointee.plan = plan.retain() }
      return stored
    }
  }

  deinit {
    guard let plan = unsafe written else { return }
    unsafe plan._withUnsafeGuaranteedRef { unsafe $0.image.drop(image) }
    unsafe plan.release()
  }

  // Addresses, because accesses to a buffer's properties are checked for exclusivity at run time.

  @unsafe
  private var written: Unmanaged<CallPlan>? {
    unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.plan }
  }

  @unsafe
  private var plan: Unmanaged<CallPlan> {
    // SAFETY: `make` returns no object whose image was not written.
    unsafe written.unsafelyUnwrapped
  }

  @unsafe
  private var image: UnsafeMutableRawPointer {
    unsafe withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
  }

  /// The selector of the message.
  package var selector: Selector {
    unsafe withUnsafeMutablePointerToHeader { unsafe $0.pointee.selector }
  }

  /// Sends the call to an object, which the caller retains. The values are borrowed.
  ///
  /// - Throws: The error of the method, or ``InvocationError`` if the object does not take the
  ///   message.
  package func send(to target: AnyObject) throws {
    let receiver = unsafe BorrowedObject(Unmanaged.passUnretained(target).toOpaque())
    try unsafe plan._withUnsafeGuaranteedRef { plan in
      try unsafe withUnsafeTemporaryAllocation(
        byteCount: MemoryLayout<FWDScopedFrame>.size, alignment: 16
      ) { scoped in
        // SAFETY: all arguments are in registers, so the frame fits the allocation.
        let call = unsafe Call(setting: plan.facts, at: scoped.baseAddress.unsafelyUnwrapped)
        defer { call.finish() }
        unsafe plan.image.restore(image, into: call)
        try call.send(compared: selector, to: receiver)
      }
    }
  }

  /// Makes an invocation that owns its arguments, without a target.
  package func invocation() -> Invocation {
    unsafe plan._withUnsafeGuaranteedRef { unsafe Invocation($0, selector, from: image) }
  }
}
