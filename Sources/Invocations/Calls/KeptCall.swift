// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import TypeEncodings

/// A method call that is made later, of an undo step or a spy: its arguments and its selector, without a
/// receiver or a result.
///
/// An ``Invocation`` can be changed, and carries a message on, but takes several times the memory.
@safe
package final class KeptCall: ManagedBuffer<KeptCall.Header, UInt64> {
  // SAFETY: the words of the arguments, in the tail of the object, are written once, before it is shared.
  // They own their values, and `deinit` releases them. A word that is not written yet is zero, which owns
  // nothing.

  @safe
  package struct Header {
    fileprivate let plan: Unmanaged<CallPlan>
    fileprivate let selector: Selector
  }

  /// Keeps a call: retains its objects, copies its C strings and Swift values, and takes a snapshot of each
  /// variable that the sender lends. Memory behind pointers is shared.
  ///
  /// - Throws: ``InvocationError/selectorNotSet`` if it is not the call of a method, and
  ///   ``InvocationError/variableNotLent(_:)`` if a variable cannot be read.
  package static func of(_ call: Call) throws(InvocationError) -> KeptCall {
    let plan = call.plan
    guard plan.isMethod, let selector = call.selector else { throw .selectorNotSet }
    let made = create(minimumCapacity: plan.keptWords) { made in
      unsafe made.withUnsafeMutablePointerToElements {
        unsafe $0.initialize(repeating: 0, count: plan.keptWords)
      }
      return unsafe Header(plan: .passRetained(plan), selector: selector)
    }
    let kept = unsafe unsafeDowncast(made, to: KeptCall.self)
    try kept.keep(call)
    return kept
  }

  deinit {
    unsafe forEachWord { index, kind, _, place in
      guard kind.isOwnable else { return }
      OwnedWord(unsafe place.pointee, kind.ownership, type: type(kind, index)).release()
    }
    unsafe head.pointee.plan.release()
  }

  /// The plan of the call.
  package var plan: CallPlan { unsafe head.pointee.plan.takeUnretainedValue() }

  /// The selector of the message.
  package var selector: Selector { unsafe head.pointee.selector }

  /// Sends the call to an object. The values are borrowed.
  ///
  /// - Throws: The error of the method, or ``InvocationError`` if the object does not take the
  ///   message.
  package func send(to target: AnyObject) throws {
    try plan.withCall { call in
      lend(to: call)
      try call.send(compared: selector, to: target)
    }
  }

  /// Makes an invocation that owns its arguments, without a target.
  package func invocation() -> Invocation {
    let copy = Invocation(plan, comparedSelector: selector)
    lend(to: copy.call)
    copy.keepArguments()
    return copy
  }

  /// An address, because accesses to a buffer's header are checked for exclusivity at run time.
  @unsafe
  private var head: UnsafeMutablePointer<Header> {
    unsafe withUnsafeMutablePointerToHeader { unsafe $0 }
  }

  /// Copies the arguments of a call, and retains or copies what they refer to.
  private func keep(_ call: Call) throws(InvocationError) {
    let frame = unsafe call.frame
    try unsafe forEachWord { index, kind, offset, place throws(InvocationError) in
      let word = unsafe frame.load(fromByteOffset: offset, as: UInt64.self)
      unsafe place.pointee = kind.isOwnable ? try owned(word, kind, index) : word
    }
  }

  /// Stores the arguments in the frame of a call, which borrows their values.
  private func lend(to call: Call) {
    let frame = unsafe call.frame
    unsafe forEachWord { _, _, offset, place in
      unsafe frame.storeBytes(of: place.pointee, toByteOffset: offset, as: UInt64.self)
    }
  }

  /// Calls `body` with each word of the declared arguments: the index and the kind of the
  /// argument, the word's offset in a frame, and its place here.
  @unsafe
  @inline(__always)
  private func forEachWord<Failure: Error>(
    _ body: (Int, FWDKind, Int, UnsafeMutablePointer<UInt64>) throws(Failure) -> Void
  ) throws(Failure) {
    let facts = unsafe head.pointee.plan._withUnsafeGuaranteedRef { unsafe $0.facts }
    var place = unsafe withUnsafeMutablePointerToElements { unsafe $0 }
    for index in unsafe 2..<Int(facts.pointee.argument_count) {
      let slot = unsafe facts.pointee.slots + index
      for word in unsafe 0..<fwd_slot_words(slot) {
        let offset = unsafe fwd_slot_word(slot, word)
        // An eightbyte of padding has no place.
        if offset != UInt32.max {
          try unsafe body(index, slot.pointee.kind, Int(offset), place)
        }
        unsafe place += 1
      }
    }
  }

  private func owned(
    _ word: UInt64, _ kind: FWDKind, _ index: Int
  ) throws(InvocationError) -> UInt64 {
    let type = type(kind, index)
    if let variable = type as? any LentVariable.Type,
      let address = unsafe UnsafeRawPointer(bitPattern: UInt(word))
    {
      return try unsafe Self.snapshot(variable, address)
    }
    return OwnedWord(keeping: word, as: kind.ownership, type: type).word
  }

  @unsafe
  private static func snapshot<Variable: LentVariable>(
    _ type: Variable.Type, _ address: UnsafeRawPointer
  ) throws(InvocationError) -> UInt64 {
    let kept = try unsafe address.assumingMemoryBound(to: Variable.self).pointee.kept
    return unsafe UInt64(UInt(bitPattern: AnyValue.box(kept)))
  }

  private func type(_ kind: FWDKind, _ index: Int) -> Any.Type? {
    kind.isSwiftValue ? plan.swiftType(ofPlace: index + 1)?.type : nil
  }
}
