// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

// Records calls without their targets, to make them again later.
extension Call {
  /// Copies the selector and the arguments of the call into a new invocation without a target. The
  /// copy is another message, so it may pass the same objects again.
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

  /// Whether a recorded call retains all arguments, decided by the types alone: no argument is a
  /// pointer or contains one. If false, an argument may still be retained.
  package var keepsAllArguments: Bool {
    unsafe unmanagedPlan._withUnsafeGuaranteedRef { $0.travels }
  }
}

extension Invocation {
  /// Copies the invocation without its target, with owned arguments and no result.
  package func recordedCopy() -> Invocation {
    let copy = duplicate(includingTarget: false)
    copy.keepArguments()
    copy.forgetAnswer()
    return copy
  }

  /// Whether a recorded call retains all arguments; see `Call.keepsAllArguments`.
  package var keepsAllArguments: Bool { call.keepsAllArguments }
}

/// Identifies threads while they run.
package enum ThreadMark {
  /// The number of the current thread; 0 if no memory is available for one.
  package static var current: UInt { UInt(bitPattern: unsafe fwd_thread()) }
}
