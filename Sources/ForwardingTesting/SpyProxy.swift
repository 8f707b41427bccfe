// SPDX-License-Identifier: Apache-2.0
public import Forwarding
import Invocations

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
/// a ``MessageCallback`` that C calls, or behind the face of a protocol, as in ``Spy``. A real
/// object behind it gets the messages that the spy has no answer for.
///
/// Arguments are stored as an invocation stores them: objects are retained, text and Swift values
/// are copied. All of them are released with the spy. Memory behind a pointer belongs to the
/// caller. A spy can be used from many threads, because received arguments are available only if
/// they are `Sendable`, or through members named `unchecked`. No lock is held while an answer runs.
public final class SpyProxy: ForwardingProxy, SharedProxy, @unchecked Sendable {
  // SAFETY: all mutable state is behind the lock of `tapes`, or in rules behind their own locks.

  let tapes = CallTapes()
  /// The object that gets the messages without an answer.
  public let real: AnyObject?
  /// How a message without an answer is treated.
  public let manner: SpyManner
  let reporter: any SpyReporter
  let place: SpyPlace
  /// Whether a message without a script needs nothing but recording.
  private let isPlain: Bool

  /// Makes a spy, in front of an object if one is given. The object is retained.
  public init(
    _ manner: SpyManner = .nice, wrapping real: AnyObject? = nil,
    reportingTo reporter: some SpyReporter,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column
  ) {
    (self.manner, self.real, self.reporter) = (manner, real, reporter)
    place = SpyPlace(fileID: fileID, filePath: filePath, line: line, column: column)
    isPlain = manner == .nice && real == nil
    super.init()
  }

  // MARK: Scripts

  func script(_ selector: Selector) -> SpyScript? { tapes.note(for: selector) as? SpyScript }

  /// Changes the configuration of a selector. Later calls use it.
  func tell(_ selector: Selector, _ change: (inout SpyScript.Parts) -> Void) {
    tell(selector, watchers: 0, change) { _, _ in }
  }

  /// Changes the configuration of a selector, and reads the calls recorded before it took effect
  /// and the stamps of those that have not ended.
  func tell<Seen>(
    _ selector: Selector, watchers: Int, _ change: (inout SpyScript.Parts) -> Void,
    seeing look: ([CallTapes.Tape], [UInt64]) -> Seen
  ) -> Seen {
    tapes.changeNote(for: selector, watchers: watchers) { old in
      var parts = (old as? SpyScript)?.parts ?? SpyScript.Parts()
      change(&parts)
      return SpyScript(parts)
    } seeing: {
      look($0, $1)
    }
  }

  /// Removes all recorded calls. The configuration stays, and waiters wait for new calls.
  public func forgetCalls() {
    let stamp = tapes.forget()
    for case let script as SpyScript in tapes.allNotes.values {
      for waiter in script.parts.waiters { waiter.forget(before: stamp) }
    }
  }

  /// Removes all configuration, such as answers. Recorded calls stay.
  public func forgetAnswers() {
    for selector in tapes.allNotes.keys {
      // Waiters are not part of the configuration.
      tell(selector) { $0 = SpyScript.Parts(waiters: $0.waiters) }
    }
  }

  // MARK: Steps of forwarding

  /// Every message fits. An answer with other types is an error of its own.
  public override func match(_ invocation: Invocation, _ selector: Selector) -> InvocationMatch {
    .fits
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
    let known = tapes.read { $0.last { $0.selector == selector }?.plan }
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
    try await respondAwaiting(invocation)
  }
}

extension SpyProxy: CallForwarding {
  package static var callForwardingClass: AnyClass { SpyProxy.self }

  package func forward(_ call: Call) throws {
    let isPlain = isPlain && !call.returnsValue
    let (note, stamp) = try tapes.keep(call, open: !isPlain)
    if note == nil, isPlain { return }
    defer { end(stamp) }
    try respond(call, stamp, note as? SpyScript)
  }

  package func targetMethod(for selector: Selector) -> Implementation? { nil }

  @inline(never)
  private func respond(_ call: Call, _ stamp: UInt64, _ script: SpyScript?) throws {
    if let simple = script?.simple { return try call.answer(by: simple) }
    guard let selector = call.selector else { throw InvocationError.selectorNotSet }
    let choice = choose(call, stamp, selector, script)
    if let delay = choice?.delay, delay > .zero { SpyDelay.block(delay) }
    switch choice?.step {
    case .body(let method): try call.answer(by: method)
    case .leftOut: throw UnansweredMessages.leftOut
    case .real, nil:
      guard let real else { return try leaveUnanswered(call, selector) }
      try call.forwarding(by: self) { try call.asInvocation { try $0.send(to: real) } }
    }
  }

  func leaveUnanswered(_ call: Call, _ selector: Selector) throws {
    if call.returnsValue { throw SpyError.notStubbed(selector) }
  }

  /// Notifies waiters and rejections, and selects the answer.
  func choose(
    _ call: Call, _ stamp: UInt64, _ selector: Selector, _ script: SpyScript?
  ) -> (step: SpyRule.Step, delay: Duration)? {
    let told = script?.parts ?? SpyScript.Parts()
    for waiter in told.waiters { waiter.begin(call, stamp) }
    for rejection in told.rejections where call.isOne(of: rejection.matches) {
      fail(
        "no call of \(rejection.text)", "and one came", nearest: selector, rejection.place)
    }
    for rule in told.rules.reversed() where call.isOne(of: rule.matches) {
      if let step = rule.next() { return (step, rule.delay) }
    }
    if manner == .strict, !told.isAllowed {
      fail("nothing but what was announced", "and '\(selector)' came", nearest: selector, place)
    }
    return nil
  }
}

extension Call {
  /// Runs `body` with an invocation that represents the call.
  func asInvocation<Value>(_ body: (Invocation) throws -> Value) throws -> Value {
    var result: Result<Value, any Error>?
    withInvocation { invocation in result = Result { try body(invocation) } }
    guard let result else { throw InvocationError.resultNotAvailable }
    return try result.get()
  }

  func isOne(of matches: SpyMatch?) -> Bool {
    guard let matches else { return true }
    return (try? asInvocation { try matches($0) }) ?? false
  }
}
