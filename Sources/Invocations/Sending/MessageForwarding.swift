public import TypeEncodings

/// What an object may say about messages it has no method for, step by step.
///
/// ```swift
/// final class Secretary: MessageForwarding {
///   let chief = Chief()
///   func methodSignature(for selector: Selector) -> MethodSignature? {
///     Introspection.signature(of: chief, for: selector)
///   }
///   func forward(_ invocation: Invocation) throws { try invocation.invoke(on: chief) }
/// }
/// try Message<String, String>("decide:")("lunch", on: Secretary())  // yes to lunch
/// ```
///
/// The order is Objective-C's: the class may *resolve* the selector by adding a method, once; then
/// the object may name *another target*; then it may give a *signature*, and *forward* the
/// invocation as it likes; at last the selector is *unrecognized*. Every step has a default that
/// passes on to the next, so a class implements the ones it needs.
public protocol MessageForwarding: CustomAnswering, SendableMetatype {
  /// The class's chance to add a method. Asked once for each class and selector, while other
  /// threads that need the answer wait, and under no lock. It must not wait for such a thread. Its
  /// return value is ignored: only what the table then holds counts.
  @discardableResult
  static func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool

  /// Another object to send the message to, unchanged. nil and self go on to the next step.
  func forwardingTarget(for selector: Selector) -> AnyObject?

  /// The types of a message that ``forward(_:)`` will handle; nil if it will not.
  func methodSignature(for selector: Selector) -> MethodSignature?

  /// Whether ``forward(_:)`` will handle an invocation, as far as its types go. By default
  /// ``methodSignature(for:)`` decides; an object that takes anything says ``InvocationMatch/fits``.
  func match(_ invocation: Invocation, _ selector: Selector) -> InvocationMatch

  /// Handles an invocation that was sent to this object. Its target is this object, and what it
  /// holds as its result when this returns travels back to the sender.
  func forward(_ invocation: Invocation) throws

  /// Handles an invocation whose sender awaits the end. By default ``forward(_:)`` does, at once.
  nonisolated(nonsending) func forwardAwaiting(_ invocation: Invocation) async throws

  /// Says that nobody answers. By default it throws
  /// ``InvocationError/unrecognizedSelector(_:type:nearest:)``; if it returns, the answer is zero.
  func unrecognizedSelector(_ selector: Selector) throws

  /// Whether the object answers a selector. By default its methods and the class's resolver decide;
  /// an object that forwards overrides this.
  func responds(to selector: Selector) -> Bool

  /// Whether the object conforms to a protocol. By default its class decides.
  func conforms(to description: ProtocolDescription) -> Bool
}

extension MessageForwarding {
  @discardableResult
  public static func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool { false }

  public func forwardingTarget(for selector: Selector) -> AnyObject? { nil }

  public func methodSignature(for selector: Selector) -> MethodSignature? {
    MethodTable.signature(of: type(of: self), for: selector)
  }

  public func match(_ invocation: Invocation, _ selector: Selector) -> InvocationMatch {
    InvocationMatch(methodSignature(for: selector), invocation)
  }

  public func forward(_ invocation: Invocation) throws {
    if let selector = invocation.selector { try unrecognizedSelector(selector) }
  }

  public nonisolated(nonsending) func forwardAwaiting(_ invocation: Invocation) async throws {
    try invocation.forwardAtOnce(by: self)
  }

  public func unrecognizedSelector(_ selector: Selector) throws {
    throw InvocationError.unrecognized(selector, by: self)
  }

  public func responds(to selector: Selector) -> Bool {
    Introspection.implementation(of: self, for: selector) != nil
  }

  public func conforms(to description: ProtocolDescription) -> Bool {
    MethodTable.of(type(of: self)).conforms(to: description)
  }
}

/// Whether an object will forward an invocation, as far as its types go.
///
/// ```swift
/// let call = try Invocation(MethodSignature("v@:i"), selector: "didSave:")
/// InvocationMatch(try MethodSignature(parsing: "v@:q"), call)  // expects(v@:q)
/// InvocationMatch(nil, call)                                   // unknown
/// ```
public enum InvocationMatch: Sendable {
  /// It will.
  case fits
  /// It forwards the selector, but with these types.
  case expects(MethodSignature)
  /// It does not forward the selector.
  case unknown

  /// Compares the types that an object forwards, if any, with those of an invocation.
  public init(_ signature: MethodSignature?, _ invocation: Invocation) {
    guard let signature else {
      self = .unknown
      return
    }
    self =
      signature.isInterchangeable(with: invocation.methodSignature) ? .fits : .expects(signature)
  }
}

/// An object with methods of its own, beside those of its class.
///
/// ```swift
/// final class Plugin: MethodProviding {
///   let run: Implementation
///   init(_ run: Implementation) { self.run = run }
///   func ownMethod(for selector: Selector) -> Implementation? { selector == "run" ? run : nil }
/// }
/// let plugin = try Plugin(Implementation { (_: Plugin) in "done" })
/// try Message<String>("run")(on: plugin)  // done
/// ```
public protocol MethodProviding: CustomAnswering, SendableMetatype {
  /// The object's own method for a selector, asked before its class.
  func ownMethod(for selector: Selector) -> Implementation?
}

/// Questions about any object. A question that objects pass on until it comes back to one of them
/// ends there with no.
///
/// ```swift
/// Introspection.responds(account, to: "deposit:")       // true
/// Introspection.signature(of: account, for: "deposit:") // i@:i
/// Introspection.responds(account, to: "rob")            // false
/// ```
public enum Introspection {
  /// Whether an object answers a selector; nil answers none.
  public static func responds(_ object: AnyObject?, to selector: Selector) -> Bool {
    guard let object else { return false }
    if let known = MethodTable.knowsAnswer(type(of: object), selector) { return known }
    if let forwarding = object as? any MessageForwarding {
      return ForwardingDepth.asking(object, ifAskedAlready: false) {
        forwarding.responds(to: selector)
      }
    }
    return implementation(of: object, for: selector) != nil
  }

  /// The types of a message to an object, as its methods, protocols or own answer tell.
  public static func signature(of object: AnyObject?, for selector: Selector) -> MethodSignature? {
    guard let object else { return nil }
    let (table, method) = MethodTable.find(type(of: object), selector)
    if let method { return method.signature }
    // SAFETY: the caller holds the object.
    let held = unsafe BorrowedObject(Unmanaged.passUnretained(object).toOpaque())
    defer { withExtendedLifetime(object) {} }
    if let method = table.ownOrClassMethod(of: held, for: selector) { return method.signature }
    guard let steps = table.forwarding else { return table.signature(for: selector) }
    return ForwardingDepth.asking(object, ifAskedAlready: nil) {
      held.methodSignature(for: selector, as: steps.type)
    }
  }

  /// Whether an object conforms to a protocol.
  public static func conforms(_ object: AnyObject?, to description: ProtocolDescription) -> Bool {
    guard let object else { return false }
    if let forwarding = object as? any MessageForwarding {
      return ForwardingDepth.asking(object, ifAskedAlready: false) {
        forwarding.conforms(to: description)
      }
    }
    return MethodTable.of(type(of: object)).conforms(to: description)
  }

  /// The method that an object has for a selector, the class's resolver included.
  public static func implementation(
    of object: AnyObject, for selector: Selector
  ) -> Implementation? {
    let (table, method) = MethodTable.find(type(of: object), selector)
    if let method { return method }
    // SAFETY: the caller holds the object.
    let held = unsafe BorrowedObject(Unmanaged.passUnretained(object).toOpaque())
    return withExtendedLifetime(object) { table.ownOrClassMethod(of: held, for: selector) }
  }
}

extension InvocationError {
  /// The error for a selector that an object has no answer to: with the name that may have been
  /// meant, or with what is wrong about its declaration.
  package static func unrecognized(_ selector: Selector, by object: AnyObject) -> InvocationError {
    let type: AnyClass = Swift.type(of: object)
    let table = MethodTable.of(type)
    let refused = table.refusedDeclarations
    let known = refused.map(\.selector.name) + table.allSelectorNames
    let nearest = NearestName.to(selector.name, among: known)
    if let declaration = refused.first(where: { $0.selector.name == nearest }) {
      return .wrongDeclaration(
        selector, type: SwiftType(type), declared: declaration)
    }
    return .unrecognizedSelector(
      selector, type: SwiftType(type), nearest: nearest)
  }
}

/// A class that has a say in how its objects answer messages.
///
/// ``MessageForwarding``, ``MethodProviding`` and ``MethodDeclaring`` inherit it, so that a class of none of them is asked
/// once: the runtime looks through all conformances of the program to say no.
///
/// ```swift
/// class Account: MethodDeclaring {
///   class func declareMethods(_ methods: MethodDeclarations) {}
/// }
/// Account.self is any CustomAnswering.Type  // true
/// ```
public protocol CustomAnswering: AnyObject {}
