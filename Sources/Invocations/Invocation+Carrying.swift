import CForwardingShims
import Synchronization
import TypeEncodings

/// What carries a message on to other objects and threads needs of an invocation.
extension Invocation {
  /// An invocation of a method whose selector was compared with the plan before.
  package convenience init(_ plan: CallPlan, comparedSelector selector: Selector) {
    self.init(plan)
    slot(1).word = UInt64(selector.word)
  }

  private static let lastMessage = Atomic<UInt>(0)

  /// The number of the message that this invocation is or carries on.
  var message: UInt {
    if messageNumber == 0 {
      messageNumber = Self.lastMessage.add(1, ordering: .relaxed).newValue
    }
    return messageNumber
  }

  /// A copy that carries the same message on; if it comes back to who forwards it, that is a cycle.
  package func carryingCopy() -> Invocation {
    let copy = copy()
    copy.messageNumber = message
    copy.path = path
    return copy
  }

  /// Whether the message has a result at all.
  package var returnsValue: Bool { resultSlot.kind.raw != .nothing }

  /// Whether a result is there to be read.
  package var hasAnswer: Bool { hasResult }

  /// Forgets the result, as a call does that throws.
  package func forgetAnswer() { forgetResult() }

  /// Sets the result to zero, as for a message to nil.
  package func answerWithZero() { answerZero() }

  /// The first argument that refers to memory which `retainArguments` would not keep: a pointer, a
  /// block, or a structure that holds one. NULL refers to nothing.
  package var firstBorrowedArgument: Int? {
    let declared = plan.signature.numberOfHiddenArguments..<plan.argumentCount
    return declared.first { index in
      let slot = slot(index)
      if slot.isNull { return false }
      return slot.kind.isPlainPointer || holdsPointer(index)
    }
  }

  private func holdsPointer(_ index: Int) -> Bool {
    guard slot(index).kind.isAggregate else { return false }
    // A value has at most 64 KiB, so this is no longer a list than its bytes.
    let leaves = (try? plan.signature.argumentTypes[index].leaves(limit: .max)) ?? []
    return leaves.contains { ["ptr", "fnptr", "cstr", "id", "block"].contains($0.name) }
  }

  /// Takes the result of another invocation of the same plan; an owned one is owned here too.
  package func takeResult(from other: Invocation) {
    forgetResult()
    guard other.hasResult, returnsValue else { return }
    let size = resultSlot.size
    // SAFETY: equal plans place their results alike, and both frames are whole.
    unsafe fwd_slot_load(
      other.plan.result, other.frame, frame + Int(plan.result.pointee.offset), max(size, 8))
    hasResult = true
    if other.resultOwnership != .none { keepResult() }
  }

  /// Copies an argument of another invocation, of the same type, as borrowed bytes.
  package func borrowArgument(_ index: Int, from other: Invocation, _ otherIndex: Int) {
    let bytes = unsafe FrameBytes.read(other.plan.slots + otherIndex, other.frame)
    unsafe FrameBytes.write(bytes, plan.slots + index, frame)
  }

  /// The result of a typed message; a void one is always there.
  package func messageResult<Value: CallValue>(
    as type: Value.Type
  ) throws(InvocationError) -> Value {
    if returnsValue { return try result(as: type) }
    return try Value.load(from: resultSlot)
  }
}

/// The result of a message that has none: `v`.
public struct NoResult: CallValue, Hashable, Sendable {
  /// Nothing.
  public init() {}

  public static var typeEncoding: String { "v" }
  public static var valueKind: ValueKind { ValueKind(raw: .nothing) }

  public func store(in slot: ValueSlot) throws(InvocationError) {}

  public static func load(from slot: ValueSlot) throws(InvocationError) -> NoResult { NoResult() }
}
