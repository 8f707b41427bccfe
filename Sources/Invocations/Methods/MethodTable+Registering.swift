import TypeEncodings

extension MethodTable {
  /// Registers a Swift closure for a selector, in place of any method the class itself had.
  @inlinable
  public func register<Receiver: AnyObject, Value: CallValue, each Argument: CallValue>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    try register(selector, Implementation(encoding: encoding, method: body))
  }

  /// Registers a Swift closure without a result.
  @inlinable
  public func register<Receiver: AnyObject, each Argument: CallValue>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Void
  ) throws(InvocationError) {
    try register(selector, Implementation(encoding: encoding, method: body))
  }

  /// Registers a C function whose first parameters are the receiver and the selector.
  ///
  /// - Parameter returnsRetained: whether an object result is the caller's to release.
  /// - Safety: the function's C type must be the one that `encoding` describes, and it must take every
  ///   object of the class, and of those below it, as its receiver. Added to another class, the
  ///   implementation is refused when a message is sent.
  @unsafe
  public func register(
    _ selector: String, encoding: String, unsafeFunction function: UnsafeRawPointer?,
    returnsRetained: Bool = false
  ) throws(InvocationError) {
    try register(
      selector,
      unsafe Implementation(
        methodEncoding: encoding, unsafeFunction: function, receiver: type,
        returnsRetained: returnsRetained))
  }

  /// Registers an implementation; the selector must have a colon for each of its arguments, and the
  /// method must take objects of this class or of one above it.
  ///
  /// A method that the class itself had is replaced, since set-up code may run twice, and an event
  /// says so. ``replace(_:_:)`` means it, and says nothing.
  public func register(
    _ selector: String, _ implementation: Implementation
  ) throws(InvocationError) {
    try InvocationError.wrapping { () throws(TypeEncodingError) in
      try implementation.signature.checkArity(ofSelector: selector)
    }
    if let taken = implementation.receiver, !isClass(type, below: taken) {
      throw .wrongReceiver(className: "\(type)", takes: "\(taken)", selector: selector)
    }
    let name = try Selector(selector)
    if replace(name, implementation) != nil {
      ForwardingEvent.report(.replacedMethod(name, of: type))
    }
  }
}

/// A class that declares its methods itself, once, before the first message to it or a subclass.
///
/// ```swift
/// class Account: MethodDeclaring {
///   class func declareMethods(_ methods: MethodDeclarations) {
///     methods.declare("deposit:") { (account: Account, amount: Int32) in account.balance += amount }
///   }
/// }
/// ```
///
/// The class that a method belongs to is the one its closure receives, so a subclass that inherits
/// this function inherits the methods, and one that overrides it adds its own. It runs once, while
/// other threads that ask for this class wait, and those that ask for others do not. Classes that
/// declare each other's methods on two threads do not wait for each other: one of them finds the
/// other half declared. It must not wait for a thread that needs this class: that thread waits for the
/// declaration.
///
/// The class is asked on whatever thread is first. A class that is isolated to an actor, the main
/// actor by default among them, says `nonisolated class func declareMethods`.
public protocol MethodDeclaring: AnyObject, SendableMetatype {
  /// Declares the methods of the class.
  static func declareMethods(_ methods: MethodDeclarations)
}

/// Where a class declares its methods.
public struct MethodDeclarations: Sendable {
  /// Adds a method to the class that `body` receives, unless that has one for the selector.
  ///
  /// A declaration that is wrong, such as one with too few colons, is an event, and is kept in
  /// ``MethodTable/declarationErrors``. Sending the message throws
  /// ``InvocationError/wrongDeclaration(className:selector:declared:reason:)``.
  @inlinable
  public func declare<Receiver: AnyObject, Value: CallValue, each Argument: CallValue>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Value
  ) {
    add(selector, to: Receiver.self) { () throws(InvocationError) in
      try Implementation(encoding: encoding, method: body)
    }
  }

  /// Adds a method without a result.
  @inlinable
  public func declare<Receiver: AnyObject, each Argument: CallValue>(
    _ selector: String, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Void
  ) {
    add(selector, to: Receiver.self) { () throws(InvocationError) in
      try Implementation(encoding: encoding, method: body)
    }
  }

  @usableFromInline
  func add(
    _ selector: String, to type: AnyClass, _ make: () throws(InvocationError) -> Implementation
  ) {
    do throws(InvocationError) {
      let implementation = try make()
      try InvocationError.wrapping { () throws(TypeEncodingError) in
        try implementation.signature.checkArity(ofSelector: selector)
      }
      MethodTable.of(type).add(try Selector(selector), implementation)
    } catch {
      let failure = DeclarationError(type: "\(type)", selector: selector, cause: error)
      MethodTable.failures.withLock { $0.append((ObjectIdentifier(type), failure)) }
      ForwardingEvent.report(.wrongDeclaration(failure))
    }
  }
}

/// A method that a class declared wrongly.
public struct DeclarationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The class.
  public var type: String
  /// The selector that was declared.
  public var selector: String
  /// What was wrong.
  public var cause: InvocationError

  public var description: String { "-[\(type) \(selector)] is declared wrongly: \(reason)" }

  /// The cause in one line, without the caret under the encoding.
  var reason: String {
    if case .encoding(let error) = cause { "\(error.reason)" } else { "\(cause)" }
  }
}

extension MethodTable {
  fileprivate static let failures = Guarded<[(type: ObjectIdentifier, error: DeclarationError)]>([])

  /// The declarations that were refused so far.
  public static var declarationErrors: [DeclarationError] { failures.read { $0 }.map(\.error) }

  /// The declarations of this class, and of those above it, that were refused.
  var refusedDeclarations: [DeclarationError] {
    let own = Self.failures.read { $0 }.filter { $0.type == ObjectIdentifier(type) }
    return own.map(\.error) + (superclass?.refusedDeclarations ?? [])
  }
}
