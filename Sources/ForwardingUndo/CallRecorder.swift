import Forwarding
import Invocations
import Synchronization

/// What stands behind a face while it records: it keeps each message, and sends none.
final class CallRecorder: ForwardingProxy, CallForwarding, @unchecked Sendable {
  // SAFETY: `calls` and `failure` are for the thread that `owner` names alone. It names one from `begin` to `end`, which
  // both run there, and nobody else changes it.
  private let owner = Atomic<UInt>(0)
  private var calls: [Invocation] = []
  private var failure: (Selector?, any Error)?

  static var callForwardingClass: AnyClass { CallRecorder.self }

  /// Keeps messages of this thread from here on.
  func begin() { owner.store(ThreadMark.current, ordering: .relaxed) }

  /// Keeps no more; returns what came, and what was refused first.
  func end() -> (calls: [Invocation], failure: (Selector?, any Error)?) {
    owner.store(0, ordering: .relaxed)
    defer { (calls, failure) = ([], nil) }
    return (calls, failure)
  }

  func forward(_ call: Call) throws {
    try keep(call.selector, call.returnsValue) { call.recorded() }
  }

  override func forward(_ invocation: Invocation) throws {
    try keep(invocation.selector, invocation.returnsValue) { invocation.recordedCopy() }
  }

  private func keep(
    _ selector: Selector?, _ hasResult: Bool, _ record: () -> Invocation
  ) throws {
    let thread = ThreadMark.current
    guard thread != 0, owner.load(ordering: .relaxed) == thread else {
      throw UndoError.notRecording(selector)
    }
    let call = record()
    do { try call.checkKeepable() } catch {
      if failure == nil { failure = (selector, error) }
      throw error
    }
    calls.append(call)
    // The face has an answer of its own where nobody gives one, or throws this.
    if hasResult { throw ForwardingError.nobodyAnswered(selector) }
  }

  /// It takes any message: the types are those of the protocol, and its targets have methods of these.
  override func match(_ invocation: Invocation, _ selector: Selector) -> InvocationMatch { .fits }

  override func responds(to selector: Selector) -> Bool { true }

  func targetMethod(for selector: Selector) -> Implementation? { nil }
}

extension Invocation {
  /// Refuses arguments that nobody keeps.
  func checkKeepable() throws(ForwardingError) {
    if keepsAllArguments { return }
    guard let index = firstBorrowedArgument else { return }
    throw .borrowedArgument(index: index, type: methodSignature.argumentTypes[index])
  }
}
