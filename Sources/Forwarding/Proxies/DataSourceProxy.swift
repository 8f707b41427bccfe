// SPDX-License-Identifier: Apache-2.0
/// A proxy that asks several objects, in order, for exactly one answer.
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
/// A *delegate* is notified, and any number of objects may listen: that is ``MulticastProxy``. A
/// *data source* is asked, and two answers would contradict each other. The proxy asks the first
/// target that responds, then a fallback, and finally returns a default value.
open class DataSourceProxy: MulticastProxy, @unchecked Sendable {
  private struct Fallbacks: Sendable {
    var object: ObjectReference?
    var values: [Selector: @Sendable (Invocation) throws -> Void] = [:]
  }

  private let fallbacks = Guarded(Fallbacks())

  /// Creates a proxy without targets.
  public override init() {
    super.init()
    targetList.asksOne = true
    resultRule = .first
  }

  /// The object that is asked when no target responds.
  public var fallback: AnyObject? { fallbacks.read { $0.object }?.object }

  /// Sets the object that is asked when no target responds. It is held weakly unless `strongly` is
  /// true.
  public func setFallback(_ object: AnyObject?, strongly: Bool = false) {
    let reference = object.map { ObjectReference($0, isStrong: strongly) }
    fallbacks.withLock { $0.object = reference }
  }

  /// Sets the result for a selector that neither a target nor the fallback responds to.
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
    try forward(invocation.call)
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

  /// Sends a message to the fallback; false if the fallback has no method for it. That may come to
  /// light only with the first message for an optional requirement.
  private func answered(_ send: () throws -> Void) throws -> Bool {
    do {
      try send()
      return true
    } catch is NotImplemented {
      return false
    }
  }
}
