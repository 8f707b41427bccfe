/// A proxy that asks several objects a question to which there is exactly one answer.
///
/// ```swift
/// let source = DataSourceProxy()
/// let height = try Message<Double>("height")
/// source.setDefault(20.0, for: "height")
/// try height(on: source)  // 20.0
/// source.add(screen)
/// try height(on: source)  // 100.0
/// ```
///
/// A *delegate* is told things, and any number may listen: that is ``MulticastProxy``. A *data
/// source* is asked for things, and two answers would contradict each other: the first target that
/// responds is asked, in order, then a fallback, and at last a default value stands in.
open class DataSourceProxy: MulticastProxy, @unchecked Sendable {
  private struct Fallbacks: Sendable {
    var object: ObjectReference?
    var values: [Selector: @Sendable (Invocation) throws -> Void] = [:]
  }

  private let fallbacks = Guarded(Fallbacks())

  /// Makes a proxy that asks nobody yet.
  public override init() {
    super.init()
    targetList.asksOne = true
    resultRule = .first
  }

  /// The object that is asked when no target responds.
  public var fallback: AnyObject? { fallbacks.read { $0.object }?.object }

  /// Sets the object that is asked when no target responds; held weakly unless told otherwise.
  public func setFallback(_ object: AnyObject?, strongly: Bool = false) {
    let reference = object.map { ObjectReference($0, isStrong: strongly) }
    fallbacks.withLock { $0.object = reference }
  }

  /// Sets the answer to a selector that nobody responds to.
  public func setDefault<Value: CallValue & Sendable>(
    _ value: Value, for selector: Selector
  ) {
    let old = fallbacks.withLockInPlace { fallbacks in
      fallbacks.values.updateValue({ call in try call.setResult(value) }, forKey: selector)
    }
    withExtendedLifetime(old) {}
  }

  open override func responds(to selector: Selector) -> Bool {
    super.responds(to: selector) || Introspection.responds(fallback, to: selector)
      || fallbacks.read { $0.values[selector] != nil }
  }

  open override func forward(_ invocation: Invocation) throws {
    guard let tally = try deliverQuietly(invocation.call) else { return }
    // A source that failed is an answer: asking the next would hide it.
    if let error = tally.error { throw error }
    guard tally.answered == 0, let selector = invocation.selector else { return }
    // A source that gets the message later, and whose result is ignored, was asked.
    if !tally.hasQueued, try answerForTargets(invocation, selector) { return }
    try answerIfNobodyDid(tally, invocation.call)
  }

  override func answerForTargets(_ invocation: Invocation, _ selector: Selector) throws -> Bool {
    if let fallback, try ForwardingDepth.responds(fallback, to: selector),
      try answered({ try invocation.send(to: fallback) })
    {
      return true
    } else if let answer = fallbacks.read({ $0.values[selector] }) {
      try answer(invocation)
    } else {
      return false
    }
    return true
  }

  override nonisolated(nonsending) func answerForTargetsAwaiting(
    _ invocation: Invocation, _ selector: Selector
  ) async throws -> Bool {
    if let fallback, try ForwardingDepth.responds(fallback, to: selector) {
      do {
        try await invocation.sendAwaiting(to: fallback)
        return true
      } catch is NotImplemented {}
    }
    guard let answer = fallbacks.read({ $0.values[selector] }) else { return false }
    try answer(invocation)
    return true
  }

  /// Whether a fallback has a method; the first message for an optional requirement may find that it has none.
  private func answered(_ send: () throws -> Void) throws -> Bool {
    do {
      try send()
      return true
    } catch is NotImplemented {
      return false
    }
  }
}
