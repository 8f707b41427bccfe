import CForwardingShims

/// A call on its way, for code that passes it on without looking at it: the record of an
/// ``Invocation``, or of a ``ScopedInvocation`` that no object stands for yet.
@safe
package struct LentCall {
  // SAFETY: the owner of both lends them for the time of a call.
  let record: CallRecord
  private let invocation: Unmanaged<Invocation>?

  init(_ record: CallRecord) {
    self.record = record
    unsafe invocation = nil
  }

  init(_ invocation: Invocation) {
    record = invocation.record
    unsafe self.invocation = .passUnretained(invocation)
  }

  /// The selector; nil if there is none yet.
  package var selector: Selector? { record.selector }

  /// Whether the message has a result.
  package var returnsValue: Bool { record.returnsValue }

  /// Sets the result to zero, as for a message to nil.
  package func answerWithZero() { record.answerZero() }

  /// Runs `body` with the invocation, or with one that stands for the call meanwhile. The result
  /// that it has then is the call's.
  package func withInvocation(_ body: (Invocation) -> Void) {
    if let invocation = unsafe invocation {
      return unsafe invocation._withUnsafeGuaranteedRef { body($0) }
    }
    unsafe record.unmanagedPlan._withUnsafeGuaranteedRef { plan in
      SpareInvocations.withOne(plan) { call in
        call.record.borrow(from: record)
        defer { call.record.slot(0).word = 0 }
        body(call)
        // Without an answer, that of an earlier target stays.
        guard call.record.hasResult else { return }
        record.forgetResult()
        record.takeResult(of: call.record)
      }
    }
  }

  /// The objects that forwarded the call on its way, if it has crossed to another thread.
  @inline(__always)
  func hasPassed(_ object: UnsafeRawPointer) -> Bool {
    unsafe record.state.pointee.has_path != 0 && isInPath(object)
  }

  @unsafe
  private func isInPath(_ object: UnsafeRawPointer) -> Bool {
    guard let invocation = unsafe invocation else { return false }
    return unsafe invocation._withUnsafeGuaranteedRef { invocation in
      invocation.path.contains {
        unsafe UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) == object
      }
    }
  }
}

/// A class of proxies that need no invocation to pass a message on.
package protocol CallForwarding: MessageForwarding {
  /// The class that passes calls on. A class below it may have steps of its own, and gets
  /// invocations.
  static var callForwardingClass: AnyClass { get }

  /// Passes a call on, as `forward(_:)` does with an invocation.
  func forward(_ call: LentCall) throws
}
