// SPDX-License-Identifier: Apache-2.0
public import Forwarding
import Invocations
public import TypeEncodings

/// An object that records every message, gives the configured answers, and reports failed
/// expectations.
///
/// ```swift
/// let spy = SpyProxy(reportingTo: Printing())
/// let deposit = try Message<Int32, Int32>("deposit:")
/// spy[deposit].answer { amount in amount * 2 }
/// try deposit(21, on: spy)  // 42
/// spy[deposit].received     // [21]
/// ```
///
/// It takes any message, so it can be used wherever an object can: as the target of a proxy, behind
/// a `Callback` that C calls, or behind the proxy of a protocol, as in ``Spy``. A real
/// object behind it gets the messages that the spy has no answer for.
///
/// Arguments are stored as an invocation stores them: objects are retained, text and Swift values
/// are copied. All of them are released with the spy. Memory behind a pointer belongs to the
/// caller. A spy can be used from many threads, because received arguments are available only if
/// they are `Sendable`, or through ``SpiedMessage/unchecked``. No lock is held while an answer runs.
public final class SpyProxy: ForwardingProxy, SharedProxy, @unchecked Sendable {
  // SAFETY: all mutable state is behind the lock of `record`, or in rules behind their own locks.

  let record = Guarded(SpyRecord())
  /// The object that gets the messages without an answer.
  public let real: AnyObject?
  let reporter: any SpyReporter

  /// Makes a spy, in front of an object if one is given. The object is retained. Failures belong to
  /// the running test unless there is another reporter.
  public init(
    wrapping real: AnyObject? = nil, reportingTo reporter: any SpyReporter = TestFailures()
  ) {
    (self.real, self.reporter) = (real, reporter)
    super.init()
  }

  // MARK: Scripts

  func script(_ selector: Selector) -> SpyScript? { record.read { $0.script(selector) } }

  /// Changes the configuration of a selector, which later calls use. `change` must not run code of users.
  func tell(_ selector: Selector, _ change: (inout SpyScript.Parts) -> Void) {
    // Objects that only the old script retains die outside of the lock.
    let old = record.withLockInPlace { $0.tell(selector, change) }
    withExtendedLifetime(old) {}
  }

  /// Removes all recorded calls. The configuration stays, and waiters wait for new calls.
  public func forgetCalls() {
    let old = record.withLockInPlace { $0.forget() }
    withExtendedLifetime(old) {}
  }

  /// Removes all configuration, such as answers. Recorded calls stay.
  public func forgetAnswers() { record.withLock { $0.scripts = [] } }

  // MARK: Steps of forwarding

  /// Every message fits. An answer with other types is an error of its own.
  public override func signature(for invocation: Invocation) -> MethodSignature? {
    invocation.methodSignature
  }

  /// The configuration decides, then the object behind the spy. Without one, every selector is
  /// answered.
  public override func responds(to selector: Selector) -> Bool {
    let rules = script(selector)?.parts.rules ?? []
    if let last = rules.last(where: { $0.matches == nil || !$0.leavesOut }) {
      return !last.leavesOut
    }
    return real.map { Introspection.responds($0, to: selector) } ?? true
  }

  public override func methodSignature(for selector: Selector) -> MethodSignature? {
    let known = record.read { $0.calls.last { $0.selector == selector }?.call.plan }
    return known?.signature ?? Introspection.signature(of: real, for: selector)
  }

  public override func conforms(to description: ProtocolDescription) -> Bool {
    real.map { Introspection.conforms($0, to: description) } ?? true
  }

  public override func forward(_ invocation: Invocation) throws { try forward(invocation.call) }

  /// Records an awaited message, and awaits its answer.
  public override nonisolated(nonsending) func forwardAwaiting(
    _ invocation: Invocation
  ) async throws {
    let (script, stamp) = try keep(invocation.call, isOpen: true)
    defer { if let stamp { end(stamp) } }
    switch choose(invocation.call, script) {
    case .body(let method): try await invocation.answerAwaiting(by: method, for: self)
    case .leftOut: throw NotImplemented()
    case .real, nil:
      guard let real else { return try leaveUnanswered(invocation.call) }
      try await invocation.sendAwaiting(to: real)
    }
  }
}

extension SpyProxy: CallForwarding {
  package static var callForwardingClass: AnyClass { SpyProxy.self }

  package func forward(_ call: Call) throws {
    // Without a script such a call needs nothing but recording.
    let isPlain = real == nil && !wantsAnswer(call)
    let (script, stamp) = try keep(call, isOpen: !isPlain)
    guard let stamp else { return }
    defer { end(stamp) }
    try respond(call, script)
  }

  private func keep(_ call: Call, isOpen: Bool) throws -> (script: SpyScript?, stamp: UInt64?) {
    try record.withLockInPlace { record throws(InvocationError) in
      try record.keep(call, isOpen: isOpen)
    }
  }

  @inline(never)
  private func respond(_ call: Call, _ script: SpyScript?) throws {
    switch choose(call, script) {
    case .body(let method): try call.answer(by: method)
    case .leftOut: throw NotImplemented()
    case .real, nil:
      guard let real else { return try leaveUnanswered(call) }
      try call.forwarding(by: self) { try call.withInvocation { try $0.send(to: real) } }
    }
  }

  /// Whether a call without an answer fails: it has a result, or its proxy has an answer of its own.
  private func wantsAnswer(_ call: Call) -> Bool {
    call.returnsValue || UnansweredMessages.hasOtherwise(call)
  }

  /// Ends a call without an answer, like a proxy without a target.
  private func leaveUnanswered(_ call: Call) throws {
    guard wantsAnswer(call) else { return }
    UnansweredMessages.note(call)
    throw ForwardingError.nobodyAnswered(call.selector)
  }

  /// Notifies rejections, and selects the answer.
  private func choose(_ call: Call, _ script: SpyScript?) -> SpyRule.Step? {
    guard let told = script?.parts else { return nil }
    for rejection in told.rejections where call.isOne(of: rejection.calls.matches) {
      fail(
        "no call of \(rejection.calls.text)", "received one", rejection.calls.nearestCalls,
        rejection.place)
    }
    for rule in told.rules.reversed() where call.isOne(of: rule.matches) {
      if let step = rule.next() { return step }
    }
    return nil
  }
}

extension Call {
  func isOne(of matches: SpyMatch?) -> Bool {
    guard let matches else { return true }
    return (try? withInvocation { try matches($0) }) ?? false
  }
}
