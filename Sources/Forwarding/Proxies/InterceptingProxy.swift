// SPDX-License-Identifier: Apache-2.0
/// A proxy for one object that runs handlers before, after, or instead of the object's methods.
///
/// ```swift
/// let proxy = InterceptingProxy(account)
/// proxy.before("deposit:") { call in
///   if try call.argument(at: 2, as: Int32.self) < 0 { throw Refused() }
/// }
/// proxy.instead(of: "close") { call, proceed in
///   if isSure() { try proceed() }
/// }
/// try Message<Int32, Int32>("deposit:")(-5, on: proxy)  // throws: Refused()
/// ```
///
/// Handlers get the invocation, and may read and replace its arguments and result. Handlers of one
/// kind run in the order in which they were added. Of several `instead` handlers only the last one
/// added runs, and may send the message to the target. A `before` handler that throws ends the
/// message.
///
/// The proxy is thread-safe. A message runs the handlers that are registered when it arrives, and
/// no lock is held while they run.
open class InterceptingProxy: ForwardingProxy, SharedProxy, @unchecked Sendable {
  // SAFETY: `interceptors` is the only mutable state, and has a lock.

  /// Inspects a message on its way to the target.
  public typealias Handler = @Sendable (Invocation) throws -> Void

  /// Sends the message to the target. The proxy passes it to a handler as an argument, so that the
  /// handler, which the proxy retains, need not retain the proxy.
  public typealias Proceed = () throws -> Void

  /// Sends the message to the target, and awaits its end.
  public typealias ProceedAwaiting = nonisolated(nonsending) () async throws -> Void

  private typealias AwaitingHandler =
    nonisolated(nonsending) @Sendable (Invocation, ProceedAwaiting) async throws -> Void

  private enum Moment { case before, instead, after }

  private struct Interceptor: Sendable {
    let token: ForwardingToken
    let moment: Moment
    /// The selector of the messages; nil for all messages.
    let selector: Selector?
    let handler: @Sendable (Invocation, Proceed) throws -> Void
    /// The handler for messages that are awaited, which then takes precedence.
    var awaiting: AwaitingHandler?

    func isFor(_ selector: Selector) -> Bool { self.selector == nil || self.selector == selector }
  }

  private let reference: ObjectReference
  private let interceptors = Guarded<[Interceptor]>([])

  /// Creates a proxy for an object, which is retained unless `strongly` is false.
  public init(_ target: AnyObject, strongly: Bool = true) {
    reference = ObjectReference(target, isStrong: strongly)
  }

  /// The target, while it is alive.
  public var target: AnyObject? { reference.object }

  /// Adds a handler that runs before the target, for one selector or for all.
  @discardableResult
  public func before(_ selector: Selector? = nil, _ handler: @escaping Handler) -> ForwardingToken {
    add(.before, selector) { call, _ in try handler(call) }
  }

  /// Adds a handler that runs instead of the target. It gets the invocation, and a function that
  /// sends the invocation to the target.
  @discardableResult
  public func instead(
    of selector: Selector? = nil,
    _ handler: @escaping @Sendable (Invocation, Proceed) throws -> Void
  ) -> ForwardingToken {
    add(.instead, selector, handler)
  }

  /// Adds a handler that runs instead of the target, and may suspend. Messages that are not awaited
  /// throw ``InvocationError/notAwaited(_:)``.
  @discardableResult
  public func instead(
    of selector: Selector? = nil,
    awaiting handler:
      nonisolated(nonsending) @escaping @Sendable (
        Invocation, ProceedAwaiting
      ) async throws -> Void
  ) -> ForwardingToken {
    add(.instead, selector, awaiting: handler) { call, _ in
      throw InvocationError.notAwaited(call.selector)
    }
  }

  /// Adds a handler that runs after the target. It sees the result, and the arguments that the
  /// target got, including changes by an `instead` handler.
  @discardableResult
  public func after(_ selector: Selector? = nil, _ handler: @escaping Handler) -> ForwardingToken {
    add(.after, selector) { call, _ in try handler(call) }
  }

  private func add(
    _ moment: Moment, _ selector: Selector?, awaiting: AwaitingHandler? = nil,
    _ handler: @escaping @Sendable (Invocation, Proceed) throws -> Void
  ) -> ForwardingToken {
    let token = ForwardingToken(
      id: ForwardingToken.newID(), target: ObjectIdentifier(self), reference.type,
      of: ObjectReference(self, isStrong: false))
    let new = Interceptor(
      token: token, moment: moment, selector: selector, handler: handler, awaiting: awaiting)
    interceptors.withLockInPlace { $0.append(new) }
    return token
  }

  /// Removes a handler.
  ///
  /// - Returns: false if it was removed before.
  @discardableResult
  public func remove(_ token: ForwardingToken) -> Bool {
    // Released outside the lock: an object that the handler captures may be deallocated with it,
    // and use the proxy in its `deinit`.
    let gone = interceptors.withLockInPlace { interceptors in
      interceptors.firstIndex { $0.token == token }.map { interceptors.remove(at: $0) }
    }
    return withExtendedLifetime(gone) { gone != nil }
  }

  /// Sends a message to the target.
  func proceed(_ invocation: Invocation) throws {
    guard let target else { throw targetGone(invocation) }
    try invocation.send(to: target)
  }

  private func targetGone(_ invocation: Invocation) -> ForwardingError {
    UnansweredMessages.note(invocation.call)
    return .targetGone(invocation.selector)
  }

  open override func methodSignature(for selector: Selector) -> MethodSignature? {
    Introspection.signature(of: target, for: selector)
  }

  open override func match(_ invocation: Invocation, _ selector: Selector) -> InvocationMatch {
    let target = target
    var match = InvocationMatch(methodSignature(for: selector), invocation)
    if case .fits = match { return match }
    if let target, (try? invocation.call.directMethod(of: target)) != nil {
      // A class may have methods of other types for the same selector, of two protocols.
      match = .fits
    } else if let forwarder = target as? any MessageForwarding {
      // An object that forwards may take messages whose types it does not know, as a spy does.
      match = forwarder.match(invocation, selector)
    }
    // An `instead` handler may answer where the target cannot. Forwarding reports that a target is
    // gone.
    if case .unknown = match, target == nil || replacement(for: selector) != nil { return .fits }
    return match
  }

  /// Throws the error that the target would throw, with its class and the name that may have been
  /// meant.
  ///
  /// - Throws: an ``InvocationError`` for the selector.
  open override func unrecognizedSelector(_ selector: Selector) throws {
    throw InvocationError.unrecognized(selector, by: target ?? self)
  }

  open override func responds(to selector: Selector) -> Bool {
    Introspection.responds(target, to: selector) || replacement(for: selector) != nil
  }

  open override func conforms(to description: ProtocolDescription) -> Bool {
    Introspection.conforms(target, to: description)
  }

  open override func forward(_ invocation: Invocation) throws {
    guard let selector = invocation.selector else { throw InvocationError.selectorNotSet }
    let proceed: Proceed = { try self.proceed(invocation) }
    // The list is a snapshot: handlers may add and remove others.
    let matching = interceptors.read { $0 }.filter { $0.isFor(selector) }
    for interceptor in matching where interceptor.moment == .before {
      try interceptor.handler(invocation, proceed)
    }
    if let replacement = matching.last(where: { $0.moment == .instead }) {
      try replacement.handler(invocation, proceed)
    } else {
      try proceed()
    }
    for interceptor in matching where interceptor.moment == .after {
      try interceptor.handler(invocation, proceed)
    }
  }

  /// Runs the handlers, and awaits the target or the `instead` handler.
  ///
  /// - Throws: the first error of a handler or of the target, which ends the message.
  open override nonisolated(nonsending) func forwardAwaiting(
    _ invocation: Invocation
  ) async throws {
    guard let selector = invocation.selector else { throw InvocationError.selectorNotSet }
    let proceed: Proceed = { try self.proceed(invocation) }
    let matching = interceptors.read { $0 }.filter { $0.isFor(selector) }
    for interceptor in matching where interceptor.moment == .before {
      try interceptor.handler(invocation, proceed)
    }
    let replacement = matching.last { $0.moment == .instead }
    if let awaiting = replacement?.awaiting {
      try await awaiting(invocation) { try await self.proceedAwaiting(invocation) }
    } else if let replacement {
      try replacement.handler(invocation, proceed)
    } else {
      try await proceedAwaiting(invocation)
    }
    for interceptor in matching where interceptor.moment == .after {
      try interceptor.handler(invocation, proceed)
    }
  }

  private nonisolated(nonsending) func proceedAwaiting(_ invocation: Invocation) async throws {
    guard let target else { throw targetGone(invocation) }
    try await invocation.sendAwaiting(to: target)
  }

  private func replacement(for selector: Selector) -> Interceptor? {
    interceptors.read { $0 }.last { $0.moment == .instead && $0.isFor(selector) }
  }
}

extension InterceptingProxy: TokenOwner {}
