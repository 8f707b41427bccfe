// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import TypeEncodings

/// A method call that is made later, of an undo step or a spy: its arguments and its selector, without a
/// receiver or a result.
///
/// An ``Invocation`` can be changed, and carries a message on, but takes several times the memory.
package struct KeptCall {
  private let list: KeptCalls
  private let index: Int

  /// Keeps a call: retains its objects, copies its C strings and Swift values, and takes a snapshot of each
  /// variable that the sender lends. Memory behind pointers is shared.
  ///
  /// - Parameter last: a call that may share its memory with this one, which keeps the arguments of both
  ///   alive. One thread at a time keeps calls after another.
  /// - Throws: ``InvocationError/selectorNotSet`` if it is not the call of a method, and
  ///   ``InvocationError/variableNotLent(_:)`` if a variable cannot be read.
  package init(_ call: Call, after last: KeptCall? = nil) throws(InvocationError) {
    var capacity = 1
    if let last, last.list.isFor(call) {
      if let index = last.list.takeNext() {
        (self.list, self.index) = (last.list, index)
        try list.keep(call, at: index)
        return
      }
      capacity = min(2 * last.list.capacityOfCalls, 64)
    }
    let plan = call.plan
    guard plan.isMethod, let selector = call.selector else { throw .selectorNotSet }
    list = KeptCalls.make(plan, selector, capacity)
    index = 0
    try list.keep(call, at: 0)
  }

  /// The plan of the call.
  package var plan: CallPlan { list.plan }

  /// The selector of the message.
  package var selector: Selector { list.selector }

  /// Sends the call to an object. The values are borrowed.
  ///
  /// - Throws: The error of the method, or ``InvocationError`` if the object does not take the
  ///   message.
  package func send(to target: AnyObject) throws {
    try plan.withInvocation { scoped in
      list.lend(index, to: scoped.call)
      try scoped.call.send(compared: selector, to: target)
    }
  }

  /// Makes an invocation that owns its arguments, without a target.
  package func invocation() -> Invocation {
    let copy = Invocation(plan, comparedSelector: selector)
    list.lend(index, to: copy.call)
    copy.keepArguments()
    return copy
  }
}

/// Calls of one message, with their arguments in the tail of the object.
@safe
private final class KeptCalls: ManagedBuffer<KeptCalls.Header, UInt64> {
  // SAFETY: a call is written once, before it is shared. The words own their values, and `deinit` releases
  // them. A word that is not written yet is zero, which owns nothing.

  @safe
  struct Header {
    let plan: Unmanaged<CallPlan>
    let selector: Selector
    let capacity: Int
    var count = 1
  }

  static func make(_ plan: CallPlan, _ selector: Selector, _ capacity: Int) -> KeptCalls {
    let words = capacity * plan.keptWords
    let made = create(minimumCapacity: words) { made in
      unsafe made.withUnsafeMutablePointerToElements {
        unsafe $0.initialize(repeating: 0, count: words)
      }
      return unsafe Header(plan: .passRetained(plan), selector: selector, capacity: capacity)
    }
    return unsafe unsafeDowncast(made, to: KeptCalls.self)
  }

  deinit {
    var ownsValues = false
    unsafe forEachWord(of: 0) { _, kind, _, _ in ownsValues = ownsValues || kind.isOwnable }
    for call in unsafe 0..<(ownsValues ? head.pointee.count : 0) {
      unsafe forEachWord(of: call) { index, kind, _, place in
        guard kind.isOwnable else { return }
        OwnedWord(unsafe place.pointee, kind.ownership, type: type(kind, index)).release()
      }
    }
    unsafe head.pointee.plan.release()
  }

  /// An address, because accesses to a buffer's header are checked for exclusivity at run time.
  @unsafe
  private var head: UnsafeMutablePointer<Header> {
    unsafe withUnsafeMutablePointerToHeader { unsafe $0 }
  }

  var plan: CallPlan { unsafe head.pointee.plan.takeUnretainedValue() }

  var selector: Selector { unsafe head.pointee.selector }

  var capacityOfCalls: Int { unsafe head.pointee.capacity }

  /// Whether a call is one of the message.
  func isFor(_ call: Call) -> Bool {
    unsafe head.pointee.plan.toOpaque() == call.unmanagedPlan.toOpaque()
      && call.selectorWord == UInt64(head.pointee.selector.word)
  }

  /// The index of one more call, if there is room for it.
  func takeNext() -> Int? {
    let count = unsafe head.pointee.count
    if unsafe count == head.pointee.capacity { return nil }
    unsafe head.pointee.count = count + 1
    return count
  }

  /// Copies the arguments of a call, and retains or copies what they refer to.
  func keep(_ call: Call, at number: Int) throws(InvocationError) {
    let frame = unsafe call.frame
    try unsafe forEachWord(of: number) { index, kind, offset, place throws(InvocationError) in
      let word = unsafe frame.load(fromByteOffset: offset, as: UInt64.self)
      unsafe place.pointee = kind.isOwnable ? try owned(word, kind, index) : word
    }
  }

  /// Stores the arguments in the frame of a call, which borrows their values.
  func lend(_ number: Int, to call: Call) {
    let frame = unsafe call.frame
    unsafe forEachWord(of: number) { _, _, offset, place in
      unsafe frame.storeBytes(of: place.pointee, toByteOffset: offset, as: UInt64.self)
    }
  }

  /// Calls `body` with each word of the declared arguments of a call: the index and the kind of the
  /// argument, the word's offset in a frame, and its place here.
  @unsafe
  @inline(__always)
  private func forEachWord<Failure: Error>(
    of number: Int,
    _ body: (Int, FWDKind, Int, UnsafeMutablePointer<UInt64>) throws(Failure) -> Void
  ) throws(Failure) {
    let (facts, words) = unsafe head.pointee.plan._withUnsafeGuaranteedRef {
      unsafe ($0.facts, $0.keptWords)
    }
    var place = unsafe withUnsafeMutablePointerToElements { unsafe $0 + number * words }
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
