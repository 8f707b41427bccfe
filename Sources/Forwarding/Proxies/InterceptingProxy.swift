// SPDX-License-Identifier: Apache-2.0
public import Invocations
public import TypeEncodings

/// A proxy for one object that runs handlers around the object's methods, before or after them.
///
/// ```swift
/// let proxy = InterceptingProxy(account)
/// proxy.before("deposit:") { call in
///   if try call.argument(at: 2, as: Int32.self) < 0 { throw Refused() }
/// }
/// proxy.around("close") { call, proceed in
///   if isSure() { try proceed() }
/// }
/// try Message<Int32, Int32>("deposit:")(-5, on: proxy)  // throws: Refused()
/// ```
///
/// Handlers get the invocation, and may read and replace its arguments and result. Those `before` the
/// target run first, and those `after` it last, each in the order in which they were added. Of several
/// handlers `around` the target the last one added runs; what it calls to proceed runs the one added
/// before it, and at last the target. An error of a handler ends the message.
///
/// The proxy is thread-safe. A message runs the handlers that are registered when it arrives, and
/// no lock is held while they run.
open class InterceptingProxy: ForwardingProxy, SharedProxy, @unchecked Sendable {
  // SAFETY: `layers` is the only mutable state, and has a lock.

  private let reference: ObjectReference
  /// The handlers, the outermost first.
  private let layers = Guarded<[InterceptingLayer]>([])

  /// Creates a proxy for an object, which is retained unless `strongly` is false.
  public init(_ target: AnyObject, strongly: Bool = true) {
    reference = ObjectReference(target, isStrong: strongly)
  }

  /// The target, while it is alive.
  public var target: AnyObject? { reference.object }

  /// Adds a handler that runs before the target, for one selector or for all. A selector that the
  /// target has no method for is reported as an event: the name may be mistyped.
  @discardableResult
  public func before(
    _ selector: Selector? = nil, _ handler: @escaping @Sendable (Invocation) throws -> Void
  ) -> ForwardingToken {
    add(selector, .before(handler))
  }

  /// Adds a handler that runs after the target. It sees the result, and the arguments that the
  /// target got, including changes by a handler around it.
  @discardableResult
  public func after(
    _ selector: Selector? = nil, _ handler: @escaping @Sendable (Invocation) throws -> Void
  ) -> ForwardingToken {
    add(selector, .after(handler))
  }

  /// Adds a handler that runs in place of the target. It gets the invocation, and a function that
  /// sends the invocation on: the handler, which the proxy retains, need not retain the proxy.
  @discardableResult
  public func around(
    _ selector: Selector? = nil,
    _ handler: @escaping @Sendable (Invocation, () throws -> Void) throws -> Void
  ) -> ForwardingToken {
    add(selector, .around { rest in try handler(rest.call) { try rest.proceed() } })
  }

  /// Adds a handler that runs in place of the target, and may suspend. Messages that are not awaited
  /// throw ``InvocationError/notAwaited(_:)``.
  @discardableResult
  public func around(
    _ selector: Selector? = nil,
    awaiting handler:
      nonisolated(nonsending) @escaping @Sendable (
        Invocation, nonisolated(nonsending) () async throws -> Void
      ) async throws -> Void
  ) -> ForwardingToken {
    add(
      selector,
      .awaiting { rest in try await handler(rest.call) { try await rest.proceedAwaiting() } })
  }

  @discardableResult
  func add(_ selector: Selector?, _ handler: InterceptingLayer.Handler) -> ForwardingToken {
    let isOutermost = if case .after = handler { true } else { false }
    if !handler.answers, let selector { checkName(selector) }
    let token = ForwardingToken(
      id: ForwardingToken.newID(), target: ObjectIdentifier(self), reference.type,
      of: ObjectReference(self, isStrong: false))
    let layer = InterceptingLayer(token: token, selector: selector, handler: handler)
    layers.withLockInPlace { layers in
      // Handlers that do not answer see what the sender sent, and what it gets.
      let index = isOutermost ? 0 : layers.firstIndex { $0.handler.answers } ?? layers.endIndex
      layers.insert(layer, at: index)
    }
    return token
  }

  /// Reports a selector that the target has no method for. One that forwards may take any.
  private func checkName(_ selector: Selector) {
    guard let target, !(target is any MessageForwarding), !isAnswered(selector),
      Introspection.signature(of: target, for: selector) == nil
    else { return }
    EventReports.report(.handlerWithoutMethod(selector, type(of: target)))
  }

  /// Removes a handler.
  ///
  /// - Returns: false if it was removed before.
  @discardableResult
  func remove(_ token: ForwardingToken) -> Bool {
    // Released outside the lock: an object that the handler captures may be deallocated with it,
    // and use the proxy in its `deinit`.
    let gone = layers.withLockInPlace { layers in
      layers.firstIndex { $0.token == token }.map { layers.remove(at: $0) }
    }
    return withExtendedLifetime(gone) { gone != nil }
  }

  /// Sends a message to the target.
  fileprivate func send(_ invocation: Invocation) throws {
    guard let target else { throw targetGone(invocation) }
    try invocation.send(to: target)
  }

  fileprivate nonisolated(nonsending) func sendAwaiting(_ invocation: Invocation) async throws {
    guard let target else { throw targetGone(invocation) }
    try await invocation.sendAwaiting(to: target)
  }

  private func targetGone(_ invocation: Invocation) -> ForwardingError {
    UnansweredMessages.note(invocation.call)
    return .targetGone(invocation.selector)
  }

  open override func methodSignature(for selector: Selector) -> MethodSignature? {
    Introspection.signature(of: target, for: selector)
  }

  open override func signature(for invocation: Invocation) -> MethodSignature? {
    let (target, own) = (target, invocation.methodSignature)
    var known = super.signature(for: invocation)
    if let known, known.isInterchangeable(with: own) { return known }
    if let target, (try? invocation.call.directMethod(of: target)) != nil {
      // A class may have methods of other types for the same selector, of two protocols.
      return own
    } else if let forwarder = target as? any MessageForwarding {
      // An object that forwards may take messages whose types it does not know, as a spy does.
      known = forwarder.signature(for: invocation)
    }
    // A handler may answer where the target cannot. Forwarding reports that a target is gone.
    let isAnswered = target == nil || invocation.selector.map { self.isAnswered($0) } ?? false
    return known ?? (isAnswered ? own : nil)
  }

  /// Throws the error that the target would throw, with its class and the name that may have been
  /// meant.
  ///
  /// - Throws: an ``InvocationError`` for the selector.
  open override func unrecognizedSelector(_ selector: Selector) throws {
    throw InvocationError.unrecognized(selector, by: target ?? self)
  }

  open override func responds(to selector: Selector) -> Bool {
    Introspection.responds(target, to: selector) || isAnswered(selector)
  }

  open override func conforms(to description: ProtocolDescription) -> Bool {
    Introspection.conforms(target, to: description)
  }

  /// Runs the handlers, and the target where they proceed.
  ///
  /// - Throws: the first error of a handler or of the target, which ends the message.
  open override func forward(_ invocation: Invocation) throws {
    try way(of: invocation).proceed()
  }

  /// Runs the handlers, and awaits the target or the handler in its place.
  ///
  /// - Throws: the first error of a handler or of the target, which ends the message.
  open override nonisolated(nonsending) func forwardAwaiting(
    _ invocation: Invocation
  ) async throws {
    try await way(of: invocation).proceedAwaiting()
  }

  /// The list is a snapshot: handlers may add and remove others.
  private func way(of invocation: Invocation) throws -> InterceptedCall {
    guard let selector = invocation.selector else { throw InvocationError.selectorNotSet }
    let matching = layers.read { $0 }.filter { $0.isFor(selector) }
    return InterceptedCall(call: invocation, proxy: self, layers: matching[...])
  }

  private func isAnswered(_ selector: Selector) -> Bool {
    layers.read { $0 }.contains { $0.handler.answers && $0.isFor(selector) }
  }
}

extension InterceptingProxy: TokenOwner {}

/// A handler, around the handlers behind it and the target.
struct InterceptingLayer: Sendable {
  typealias Awaiting =
    nonisolated(nonsending) @Sendable (InterceptedCall) async throws -> Void

  enum Handler: Sendable {
    case before(@Sendable (Invocation) throws -> Void)
    case after(@Sendable (Invocation) throws -> Void)
    case around(@Sendable (InterceptedCall) throws -> Void)
    case awaiting(Awaiting)

    /// Whether it may answer in place of the target.
    var answers: Bool {
      switch self {
      case .before, .after: false
      case .around, .awaiting: true
      }
    }
  }

  let token: ForwardingToken
  /// The selector of the messages; nil for all messages.
  let selector: Selector?
  let handler: Handler

  func isFor(_ selector: Selector) -> Bool { self.selector == nil || self.selector == selector }
}

/// A message on its way to the target, and the handlers that it has yet to pass.
struct InterceptedCall {
  let call: Invocation
  fileprivate let proxy: InterceptingProxy
  fileprivate let layers: ArraySlice<InterceptingLayer>

  private var rest: InterceptedCall {
    InterceptedCall(call: call, proxy: proxy, layers: layers.dropFirst())
  }

  /// Runs the next handler, or the target.
  func proceed() throws {
    guard let next = layers.first else { return try proxy.send(call) }
    switch next.handler {
    case .before(let run):
      try run(call)
      try rest.proceed()
    case .after(let run):
      try rest.proceed()
      try run(call)
    case .around(let run): try run(rest)
    case .awaiting: throw InvocationError.notAwaited(call.selector)
    }
  }

  nonisolated(nonsending) func proceedAwaiting() async throws {
    guard let next = layers.first else { return try await proxy.sendAwaiting(call) }
    switch next.handler {
    case .before(let run):
      try run(call)
      try await rest.proceedAwaiting()
    case .after(let run):
      try await rest.proceedAwaiting()
      try run(call)
    case .around(let run): try run(rest)
    case .awaiting(let run): try await run(rest)
    }
  }
}
