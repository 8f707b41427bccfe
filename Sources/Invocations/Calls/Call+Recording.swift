import CForwardingShims

// Calls that somebody keeps to make them again later, without their targets.
extension Call {
  /// An invocation of its own with the selector and the arguments of the call, and without a target. It is another
  /// message: that it came by here says nothing of where it goes.
  package func recorded() -> Invocation {
    unsafe unmanagedPlan._withUnsafeGuaranteedRef { plan in
      let copy = Invocation(plan)
      unsafe copy.call.copyFrame(from: frame)
      copy.call.setSelector(Selector(word: UInt(selectorWord)))
      copy.call.receiverWord = 0
      copy.keepArguments()
      return copy
    }
  }

  /// Whether each argument is one that a recorded call keeps, without looking at them: none is a pointer, and
  /// none holds one. False says nothing.
  package var keepsAllArguments: Bool {
    unsafe unmanagedPlan._withUnsafeGuaranteedRef { $0.carriage.size > 0 }
  }
}

extension Invocation {
  /// A copy that owns its arguments, and has no target.
  package func recordedCopy() -> Invocation {
    let copy = duplicate(includingTarget: false)
    copy.keepArguments()
    copy.forgetAnswer()
    return copy
  }

  /// As that of the call.
  package var keepsAllArguments: Bool { call.keepsAllArguments }
}

/// Tells threads apart, as long as they run.
package enum ThreadMark {
  /// The number of the current thread; 0 where there is no memory for one.
  package static var current: UInt { UInt(bitPattern: unsafe fwd_thread()) }
}
