/// A proxy for one object that lets others look at messages before, after, or instead of it.
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
/// Handlers get the invocation, and may read and replace its arguments and result. Those of one
/// kind run in the order they were added; the last `instead` that was added wins, and may send the
/// message on. A `before` that throws ends the message.
///
/// Safe to use from many threads. A message runs the handlers that there were when it came, and no lock is
/// held while they run.
open class InterceptingProxy: ForwardingProxy, @unchecked Sendable {
  // SAFETY: all that changes is behind `interceptors`.

  /// Looks at a message on its way.
  public typealias Handler = @Sendable (Invocation) throws -> Void

  /// Sends the message on to the target. A handler gets it, so that the handler, which the proxy
  /// keeps, need not refer to the proxy.
  public typealias Proceed = () throws -> Void

  /// Sends the message on to the target, and awaits the end.
  public typealias ProceedAwaiting = nonisolated(nonsending) () async throws -> Void

  private typealias AwaitingHandler =
    nonisolated(nonsending) @Sendable (Invocation, ProceedAwaiting) async throws -> Void

  /// Names a handler, to remove it.
  public struct Token: Hashable, Sendable { fileprivate let id: Int }

  private enum Moment { case before, instead, after }

  private struct Interceptor: Sendable {
    let token: Token
    let moment: Moment
    /// nil for every selector.
    let selector: Selector?
    let handler: @Sendable (Invocation, Proceed) throws -> Void
    /// In place of that for messages that are awaited.
    var awaiting: AwaitingHandler?

    func isFor(_ selector: Selector) -> Bool { self.selector == nil || self.selector == selector }
  }

  private struct Interceptors: Sendable {
    var list: [Interceptor] = []
    var lastID = 0
  }

  private let reference: ObjectReference
  private let interceptors = Guarded(Interceptors())

  /// Makes a proxy for an object, which it keeps alive unless told otherwise.
  public init(_ target: AnyObject, strongly: Bool = true) {
    reference = ObjectReference(target, isStrong: strongly)
  }

  /// The object, while it lives.
  public var target: AnyObject? { reference.object }

  /// Adds a handler that runs before the target; for every selector, if none is given.
  @discardableResult
  public func before(_ selector: Selector? = nil, _ handler: @escaping Handler) -> Token {
    add(.before, selector) { call, _ in try handler(call) }
  }

  /// Adds a handler that runs in place of the target. It gets the invocation, and a function that
  /// sends that to the target.
  @discardableResult
  public func instead(
    of selector: Selector? = nil,
    _ handler: @escaping @Sendable (Invocation, Proceed) throws -> Void
  ) -> Token {
    add(.instead, selector, handler)
  }

  /// Adds a handler that runs in place of the target, and may suspend. It is for messages that are awaited;
  /// others throw ``InvocationError/notAwaited(_:)``.
  @discardableResult
  public func instead(
    of selector: Selector? = nil,
    awaiting handler:
      nonisolated(nonsending) @escaping @Sendable (
        Invocation, ProceedAwaiting
      ) async throws -> Void
  ) -> Token {
    add(.instead, selector, awaiting: handler) { call, _ in
      throw InvocationError.notAwaited(call.selector)
    }
  }

  /// Adds a handler that runs after the target, and sees the result, and the arguments as they were sent on: those
  /// that an `instead` handler has changed, if one has.
  @discardableResult
  public func after(_ selector: Selector? = nil, _ handler: @escaping Handler) -> Token {
    add(.after, selector) { call, _ in try handler(call) }
  }

  private func add(
    _ moment: Moment, _ selector: Selector?, awaiting: AwaitingHandler? = nil,
    _ handler: @escaping @Sendable (Invocation, Proceed) throws -> Void
  ) -> Token {
    interceptors.withLockInPlace { interceptors in
      interceptors.lastID += 1
      let token = Token(id: interceptors.lastID)
      interceptors.list.append(
        Interceptor(
          token: token, moment: moment, selector: selector, handler: handler, awaiting: awaiting))
      return token
    }
  }

  /// Removes a handler; false if it was gone.
  @discardableResult
  public func remove(_ token: Token) -> Bool {
    // An object that the handler holds may die with it, and use the proxy in its `deinit`.
    let gone = interceptors.withLockInPlace { interceptors in
      interceptors.list.firstIndex { $0.token == token }.map { interceptors.list.remove(at: $0) }
    }
    return withExtendedLifetime(gone) { gone != nil }
  }

  /// Sends a message on to the target.
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
    let match = InvocationMatch(methodSignature(for: selector), invocation)
    // An `instead` handler may answer where the target cannot; that a target is gone, forwarding tells.
    if case .unknown = match, target == nil || replacement(for: selector) != nil { return .fits }
    return match
  }

  /// Says what the target would: its class is named, and the name that may have been meant.
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
    // A snapshot: handlers may add and remove others.
    let matching = interceptors.read { $0.list }.filter { $0.isFor(selector) }
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

  /// Runs the handlers, and awaits the target, or what is in its place.
  open override nonisolated(nonsending) func forwardAwaiting(
    _ invocation: Invocation
  ) async throws {
    guard let selector = invocation.selector else { throw InvocationError.selectorNotSet }
    let proceed: Proceed = { try self.proceed(invocation) }
    let matching = interceptors.read { $0.list }.filter { $0.isFor(selector) }
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
    interceptors.read { $0.list }.last { $0.moment == .instead && $0.isFor(selector) }
  }
}
