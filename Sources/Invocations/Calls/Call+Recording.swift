// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import TypeEncodings

// Records calls without their targets, to make them again later.
extension Call {
  /// Makes an invocation with copies of the call's arguments, which it owns, and without a target
  /// or a result. It retains later arguments as the call does. It is another message, so it may
  /// pass the same objects again.
  package func recorded() -> Invocation {
    unsafe unmanagedPlan._withUnsafeGuaranteedRef { plan in
      let copy = Invocation(plan)
      unsafe copy.call.copyFrame(from: frame)
      unsafe copy.call.state.pointee.checked_selector = state.pointee.checked_selector
      copy.call.retainsArguments = retainsArguments
      copy.call.retainsTarget = retainsTarget
      if plan.isMethod { copy.call.receiverWord = 0 }
      if plan.returnsValue { copy.call.clearResult() }
      copy.keepArguments()
      return copy
    }
  }

  /// Whether a recorded call retains all arguments, decided by the types alone: no argument is a
  /// pointer or contains one. If false, an argument may still be retained.
  package var keepsAllArguments: Bool {
    unsafe unmanagedPlan._withUnsafeGuaranteedRef { $0.travels }
  }

  /// The index of the first argument with memory that `retainArguments` does not retain: a pointer,
  /// a block, a lent variable, or a structure that holds a pointer. NULL does not count.
  package var firstBorrowedArgument: Int? {
    let plan = plan
    let declared = plan.signature.numberOfHiddenArguments..<plan.argumentCount
    return declared.first { index in
      let slot = slot(index)
      if slot.kind.isAggregate { return plan.signature.argumentTypes[index].holdsAddress }
      if plan.lendsVariables, slot.kind.isSwiftValue {
        return plan.swiftType(ofPlace: index + 1)?.type is any LentVariable.Type
      }
      return slot.kind.isUnownedPointer && !slot.isNull
    }
  }
}
