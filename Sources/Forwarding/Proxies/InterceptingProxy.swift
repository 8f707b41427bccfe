/// A proxy for one object that lets others look at messages before, after, or instead of it.
///
/// ```swift
/// let proxy = InterceptingProxy(account)
/// let token = try proxy.before("deposit:") { call in
///   if try call.argument(at: 2, as: Int32.self) < 0 { throw Refused() }
/// }
/// ```
///
/// Handlers get the invocation: arguments and result can be read and replaced. Those of one kind run
/// in the order they were added; the last `instead` that was added wins, and may send the message on
/// with ``proceed(_:)``. A `before` that throws ends the message.
open class InterceptingProxy: ForwardingProxy {
  /// Looks at a message on its way.
  public typealias Handler = (Invocation) throws -> Void

  /// Names a handler, to remove it.
  public struct Token: Hashable, Sendable { fileprivate let id: Int }

  private enum Moment { case before, instead, after }

  private struct Interceptor {
    let token: Token
    let moment: Moment
    /// nil for every selector.
    let selector: Selector?
    let handler: Handler
  }

  private let reference: ObjectReference
  private var interceptors: [Interceptor] = []
  private var lastID = 0

  /// Makes a proxy for an object, which it keeps alive unless told otherwise.
  public init(_ target: AnyObject, strongly: Bool = true) {
    reference = ObjectReference(target, isStrong: strongly)
  }

  /// The object, while it lives.
  public var target: AnyObject? { reference.object }

  /// Adds a handler that runs before the target; for every selector, if none is given.
  @discardableResult
  public func before(
    _ selector: String? = nil, _ handler: @escaping Handler
  ) throws(InvocationError) -> Token {
    try add(.before, selector, handler)
  }

  /// Adds a handler that runs in place of the target.
  @discardableResult
  public func instead(
    of selector: String? = nil, _ handler: @escaping Handler
  ) throws(InvocationError) -> Token {
    try add(.instead, selector, handler)
  }

  /// Adds a handler that runs after the target, and sees the result.
  @discardableResult
  public func after(
    _ selector: String? = nil, _ handler: @escaping Handler
  ) throws(InvocationError) -> Token {
    try add(.after, selector, handler)
  }

  private func add(
    _ moment: Moment, _ selector: String?, _ handler: @escaping Handler
  ) throws(InvocationError) -> Token {
    let name: Selector? = if let selector { try Selector(selector) } else { nil }
    lastID += 1
    let token = Token(id: lastID)
    interceptors.append(
      Interceptor(token: token, moment: moment, selector: name, handler: handler))
    return token
  }

  /// Removes a handler; false if it was gone.
  @discardableResult
  public func remove(_ token: Token) -> Bool {
    guard let index = interceptors.firstIndex(where: { $0.token == token }) else { return false }
    // What the handler holds may die of this, and come back to the proxy as it does.
    let gone = interceptors.remove(at: index)
    withExtendedLifetime(gone) {}
    return true
  }

  /// Sends an invocation to the target itself.
  public func proceed(_ invocation: Invocation) throws {
    guard let target else {
      throw ForwardingError.targetGone(selector: invocation.selector?.name ?? "")
    }
    try invocation.send(to: target)
  }

  open override func methodSignature(for selector: Selector) -> MethodSignature? {
    Messaging.signature(of: target, for: selector)
  }

  open override func match(_ invocation: Invocation, _ selector: Selector) -> InvocationMatch {
    let match = InvocationMatch(methodSignature(for: selector), invocation)
    // Somebody may answer instead of a target that cannot.
    if case .unknown = match, replacement(for: selector) != nil { return .fits }
    return match
  }

  open override func responds(to selector: Selector) -> Bool {
    Messaging.responds(target, to: selector) || replacement(for: selector) != nil
  }

  open override func conforms(to description: ProtocolDescription) -> Bool {
    Messaging.conforms(target, to: description)
  }

  open override func forward(_ invocation: Invocation) throws {
    guard let selector = invocation.selector else { throw InvocationError.selectorNotSet }
    // A snapshot: handlers may add and remove others.
    let matching = interceptors.filter { $0.selector == nil || $0.selector == selector }
    for interceptor in matching where interceptor.moment == .before {
      try interceptor.handler(invocation)
    }
    if let replacement = matching.last(where: { $0.moment == .instead }) {
      try replacement.handler(invocation)
    } else {
      try proceed(invocation)
    }
    for interceptor in matching where interceptor.moment == .after {
      try interceptor.handler(invocation)
    }
  }

  private func replacement(for selector: Selector) -> Interceptor? {
    interceptors.last {
      $0.moment == .instead && ($0.selector == nil || $0.selector == selector)
    }
  }
}
