// SPDX-License-Identifier: Apache-2.0
public import TypeEncodings

/// The steps by which an object handles messages that it has no method for.
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
/// The order is Objective-C's. The class may *resolve* the selector by adding a method, once. Then
/// the object may name *another target*. Then it may return a *signature*, and *forward* the
/// invocation as it likes. At last the selector is *unrecognized*. The default of every step goes
/// on to the next, so a class implements only the steps that it needs.
public protocol MessageForwarding: CustomAnswering, SendableMetatype {
  /// Lets the class add a method. Called once for each class and selector, without a lock, while
  /// other threads that need the answer wait for it. It must not wait for such a thread. The return
  /// value is ignored; only the methods that are then in the table count.
  @discardableResult
  static func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool

  /// Another object to send the message to, unchanged. If it is nil or self, the next step follows.
  func forwardingTarget(for selector: Selector) -> AnyObject?

  /// The types of a message that ``forward(_:)`` handles; nil if it does not handle the message.
  func methodSignature(for selector: Selector) -> MethodSignature?

  /// The types with which ``forward(_:)`` handles an invocation, which must be its own; nil if it does
  /// not handle the message. The default asks ``methodSignature(for:)``. An object that takes all
  /// types returns the invocation's ``Invocation/methodSignature``.
  func signature(for invocation: Invocation) -> MethodSignature?

  /// Handles an invocation that was sent to this object, which is its target. The sender gets the
  /// result that the invocation has on return.
  ///
  /// - Throws: An error that the sender gets.
  func forward(_ invocation: Invocation) throws

  /// Handles an invocation whose sender awaits the end. The default calls ``forward(_:)``.
  ///
  /// - Throws: An error that the sender gets.
  nonisolated(nonsending) func forwardAwaiting(_ invocation: Invocation) async throws

  /// Handles a selector that no object answers. If it returns, the result of the message is zero.
  ///
  /// - Throws: ``InvocationError/unrecognizedSelector(_:type:nearest:)`` by default.
  func unrecognizedSelector(_ selector: Selector) throws

  /// Whether the object answers a selector. The default looks at its methods and asks the class's
  /// resolver. An object that forwards must implement this itself.
  func responds(to selector: Selector) -> Bool

  /// Whether the object conforms to a protocol. The default asks its class.
  func conforms(to description: ProtocolDescription) -> Bool
}

extension MessageForwarding {
  @discardableResult
  public static func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool { false }

  public func forwardingTarget(for selector: Selector) -> AnyObject? { nil }

  public func methodSignature(for selector: Selector) -> MethodSignature? {
    MethodTable.of(type(of: self)).signature(for: selector)
  }

  public func signature(for invocation: Invocation) -> MethodSignature? {
    invocation.selector.flatMap { methodSignature(for: $0) }
  }

  public func forward(_ invocation: Invocation) throws {
    if let selector = invocation.selector { try unrecognizedSelector(selector) }
  }

  public nonisolated(nonsending) func forwardAwaiting(_ invocation: Invocation) async throws {
    try invocation.call.forwarding(by: self) { try forward(invocation) }
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

/// An object that has methods of its own, besides those of its class.
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
  /// The object's own method for a selector. Asked before its class.
  func ownMethod(for selector: Selector) -> Implementation?
}

/// Questions about any object. Objects may pass a question on; if it comes back to one of them, its
/// answer is no.
///
/// ```swift
/// Introspection.responds(account, to: "deposit:")       // true
/// Introspection.signature(of: account, for: "deposit:") // i@:i
/// Introspection.responds(account, to: "rob")            // false
/// ```
public enum Introspection {
  /// Whether an object answers a selector; false for nil.
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

  /// The types of a message to an object, according to its methods, its protocols, or its own
  /// answer.
  public static func signature(of object: AnyObject?, for selector: Selector) -> MethodSignature? {
    guard let object else { return nil }
    if let method = implementation(of: object, for: selector) { return method.signature }
    guard let forwarding = object as? any MessageForwarding else {
      return MethodTable.of(type(of: object)).signature(for: selector)
    }
    return ForwardingDepth.asking(object, ifAskedAlready: nil) {
      forwarding.methodSignature(for: selector)
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

  /// The method that an object has for a selector. May call the class's resolver.
  public static func implementation(
    of object: AnyObject, for selector: Selector
  ) -> Implementation? {
    let (table, method) = MethodTable.find(type(of: object), selector)
    if let method { return method }
    // SAFETY: the caller retains the object.
    let held = unsafe BorrowedObject(Unmanaged.passUnretained(object).toOpaque())
    return withExtendedLifetime(object) { table.ownOrClassMethod(of: held, for: selector) }
  }
}

extension InvocationError {
  /// The error for a selector that an object does not answer. It suggests the nearest name, or
  /// describes the error in that method's declaration.
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

/// A class that takes part in how its objects answer messages.
///
/// ``MessageForwarding``, ``MethodProviding`` and ``MethodDeclaring`` inherit it, so that a class
/// without any of them is cast once. A failing cast is slow: the runtime searches all conformances
/// of the program.
///
/// ```swift
/// class Account: MethodDeclaring {
///   class func declareMethods(_ methods: MethodDeclarations) {}
/// }
/// Account.self is any CustomAnswering.Type  // true
/// ```
public protocol CustomAnswering: AnyObject {}
