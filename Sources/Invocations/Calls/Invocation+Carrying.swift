public import CForwardingShims
import TypeEncodings

/// What deliveries and forwarding need of an invocation, to carry a message on to other objects and
/// threads.
extension Invocation {
  /// An invocation of a method whose selector was compared with the plan before.
  package convenience init(_ plan: CallPlan, comparedSelector selector: Selector) {
    self.init(plan)
    call.setSelector(selector)
  }

  /// A copy that carries the same message on: if it comes back to an object that is forwarding it,
  /// that is a cycle. It has no target until it is sent.
  package func carryingCopy() -> Invocation {
    let copy = duplicate(includingTarget: false)
    unsafe copy.call.state.pointee.message = call.message
    if hasLuggage { copy.setPath(path) }
    return copy
  }

  /// Whether the message has a result.
  package var returnsValue: Bool { call.returnsValue }

  /// Whether a result is there to be read.
  package var hasAnswer: Bool { call.hasResult }

  /// Forgets the result, as a call does that throws.
  package func forgetAnswer() { call.forgetResult() }

  /// Refuses an argument that cannot be set now.
  package func checkSettable(_ index: Int) throws(InvocationError) {
    try call.checkIndex(index)
    try call.checkSettable(index)
  }

  /// Sets the result to zero, as for a message to nil.
  package func answerWithZero() { call.answerWithZero() }

  /// The first argument that refers to memory which `retainArguments` would not keep: a pointer, a
  /// block, or a structure that holds one. NULL refers to nothing.
  package var firstBorrowedArgument: Int? {
    let declared = plan.signature.numberOfHiddenArguments..<plan.argumentCount
    return declared.first { index in
      let slot = call.slot(index)
      if slot.kind.isAggregate { return holdsPointer(index) }
      if plan.lendsVariables, slot.kind.isSwiftValue {
        return plan.swiftType(ofPlace: index + 1)?.type is any LentVariable.Type
      }
      return slot.kind.isUnownedPointer && !slot.isNull
    }
  }

  private func holdsPointer(_ index: Int) -> Bool {
    // A value has at most 64 KiB, so this is no longer a list than its bytes.
    let leaves = (try? plan.signature.argumentTypes[index].leaves(limit: .max)) ?? []
    return leaves.contains { ["ptr", "fnptr", "cstr", "id", "block"].contains($0.name) }
  }

  /// Takes the result of another invocation of the same plan; an owned one is owned here too.
  package func adoptResult(from other: Invocation) {
    let old = call.detachResult()
    defer { call.letGo(old) }
    guard other.call.hasResult, returnsValue else { return }
    // SAFETY: equal plans place their results alike, and both frames are whole.
    unsafe call.copyResult(from: other.call.frame)
    call.hasResult = true
    if other.call.resultOwnership != .none { call.keepResult() }
  }

  /// A new invocation that holds the result alone.
  package func answerAlone() -> Invocation {
    let copy = Invocation(plan)
    copy.adoptResult(from: self)
    copy.call.keepResult()
    return copy
  }
}

/// The result of a message that has none: `v`.
///
/// ```swift
/// let saved = try Message<NoResult, Int32>("didSave:")
/// saved.signature  // v@:i
/// ```
@frozen
public struct NoResult: CallValue, Hashable, Sendable {
  /// Nothing.
  @inlinable public init() {}

  public static var typeEncoding: String { "v" }

  @inlinable @unsafe
  public static func _callFacts(_ depth: Int) -> ValueFacts { ValueFacts(.nothing) }

  @inlinable @unsafe public func store(in slot: ValueSlot) throws(InvocationError) {}

  @inlinable @unsafe
  public static func load(from slot: ValueSlot) throws(InvocationError) -> NoResult { NoResult() }
}
