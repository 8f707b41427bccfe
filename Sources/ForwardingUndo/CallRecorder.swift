import Forwarding
import Invocations
import Synchronization

/// What stands behind a face while it records: it keeps each message, and sends none.
final class CallRecorder: ForwardingProxy, CallForwarding, @unchecked Sendable {
  // SAFETY: all but `owner` is for the thread that `owner` names alone. It names one from `begin` to `end`, which
  // both run there, and nobody else changes it.
  private let owner = Atomic<UInt>(0)
  /// The first call, and all others: most records have one.
  private var first: Invocation?
  private var others: [Invocation] = []
  private var failure: (Selector?, any Error)?

  static var callForwardingClass: AnyClass { CallRecorder.self }

  /// Keeps messages of this thread from here on.
  func begin() { owner.store(ThreadMark.current, ordering: .relaxed) }

  /// Keeps no more; returns what came, and what was refused first.
  func end() -> (calls: [Invocation], failure: (Selector?, any Error)?) {
    owner.store(0, ordering: .relaxed)
    defer { (first, others, failure) = (nil, [], nil) }
    return ((first.map { [$0] } ?? []) + others, failure)
  }

  /// The same, if all that came is one call that was kept.
  func endWithOne() -> Invocation? {
    guard let first, others.isEmpty, failure == nil else { return nil }
    owner.store(0, ordering: .relaxed)
    self.first = nil
    return first
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
    if first == nil { first = call } else { others.append(call) }
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
