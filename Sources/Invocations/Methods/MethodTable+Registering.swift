// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

import TypeEncodings

extension MethodTable: MethodRegistry {
  /// Registers a C function whose first parameters are the receiver and the selector.
  ///
  /// - Parameter returnsRetained: whether the caller must release an object that the function
  ///   returns.
  /// - Throws: ``InvocationError/duplicateName(_:)``; ``InvocationError/nullFunction``;
  ///   ``InvocationError/encoding(_:)`` if the encoding is invalid or does not fit the selector.
  /// - Safety: `encoding` must describe the function's C type, and the function must take every
  ///   object of the class and its subclasses as its receiver. If the implementation is added to
  ///   another class, sends to that class throw.
  @unsafe
  public func register(
    _ selector: Selector, replacing: Bool = false, encoding: String,
    unsafeFunction function: UnsafeRawPointer?, returnsRetained: Bool = false
  ) throws(InvocationError) {
    try register(
      selector, replacing: replacing,
      unsafe Implementation(
        methodEncoding: encoding, unsafeFunction: function, receiver: type,
        returnsRetained: returnsRetained))
  }

  public func register(
    _ selector: Selector, for receiver: AnyClass?, replacing: Bool,
    making make: () throws(InvocationError) -> Implementation
  ) throws(InvocationError) {
    if passesOn { throw .passesOn(selector, type: SwiftType(type)) }
    let implementation = try make()
    try check(implementation, for: selector)
    if replacing {
      replace(selector, implementation)
    } else if !add(selector, implementation) {
      throw .duplicateName("-[\(type) \(selector)]")
    }
  }

  /// Throws if a selector's colons are not as many as the method's arguments, or if the method
  /// takes objects of a class that is not a superclass of this one.
  private func check(
    _ implementation: Implementation, for selector: Selector
  ) throws(InvocationError) {
    try implementation.signature.checkArity(of: selector)
    if let taken = implementation.receiver, !isClass(type, below: taken) {
      throw .wrongReceiver(selector, type: SwiftType(type), takes: SwiftType(taken))
    }
  }
}

/// A class that declares its methods in code, once, before the first message to it or a subclass.
///
/// ```swift
/// class Account: MethodDeclaring {
///   var balance: Int32 = 100
///   class func declareMethods(_ methods: MethodDeclarations) {
///     methods.register("deposit:") { (account: Account, amount: Int32) in
///       account.balance += amount
///     }
///   }
/// }
/// Introspection.responds(Account(), to: "deposit:")  // true
/// ```
///
/// A method belongs to the class that its closure receives. So a subclass that inherits this
/// function inherits the methods, and one that overrides it adds its own. The function runs once.
/// Other threads that need this class wait meanwhile; threads that need other classes do not. If
/// two classes declare each other's methods on two threads, they do not wait for each other, and
/// one of them finds the other half declared. The function must not wait for a thread that needs
/// this class, because that thread waits for the declaration.
///
/// The function runs on the thread that first needs the class. A class that is isolated to an
/// actor, such as the main actor by default, declares it as `nonisolated class func
/// declareMethods`.
public protocol MethodDeclaring: CustomAnswering, SendableMetatype {
  /// Declares the methods of the class.
  static func declareMethods(_ methods: MethodDeclarations)
}

/// The registry in which a class declares its methods.
///
/// ```swift
/// final class Door: MethodDeclaring {
///   static func declareMethods(_ methods: MethodDeclarations) {
///     methods.register("isOpen") { (_: Door) in true }
///   }
/// }
/// try Message<Bool>("isOpen")(on: Door())  // true
/// ```
///
/// A wrong declaration, such as one with too few colons, is reported as a ``ForwardingEvent`` and
/// kept in ``MethodTable/declarationErrors``. Sending the message throws
/// ``InvocationError/wrongDeclaration(_:type:declared:)``.
public struct MethodDeclarations: MethodRegistry, Sendable {
  /// The class that declares.
  private let type: AnyClass

  init(of type: AnyClass) { self.type = type }

  public func register(
    _ selector: Selector, for receiver: AnyClass?, replacing: Bool,
    making make: () throws(InvocationError) -> Implementation
  ) {
    // A subclass that inherits the declaration runs it once more, for the methods of its
    // superclass.
    let receiver: AnyClass = receiver ?? type
    let table = MethodTable.of(receiver)
    if receiver != type, table.own(selector) != nil { return }
    do throws(InvocationError) {
      try table.register(selector, for: receiver, replacing: replacing, making: make)
    } catch {
      MethodTable.refuse(
        DeclarationError(type: SwiftType(receiver), selector: selector, cause: error))
    }
  }
}

/// A wrong declaration of a method.
///
/// ```swift
/// final class Door: MethodDeclaring {
///   static func declareMethods(_ methods: MethodDeclarations) {
///     methods.register("open") { (_: Door, isWide: Bool) in }
///   }
/// }
/// MethodTable.of(Door.self).selectors       // []
/// MethodTable.declarationErrors.last?.type  // Door
/// ```
public struct DeclarationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The class.
  public let type: SwiftType
  /// The selector that was declared.
  public let selector: Selector
  /// The error of the declaration.
  public let cause: InvocationError

  public var description: String { "-[\(type) \(selector)] is declared wrongly: \(reason)" }

  /// The cause in one line, without the caret under the encoding.
  var reason: String {
    if case .encoding(let error) = cause { "\(error.reason)" } else { "\(cause)" }
  }
}

extension MethodTable {
  private static let failures = Guarded<[DeclarationError]>([])

  /// The declarations that were refused so far.
  public static var declarationErrors: [DeclarationError] { failures.read { $0 } }

  static func refuse(_ failure: DeclarationError) {
    failures.withLock { $0.append(failure) }
    EventReports.report(.wrongDeclaration(failure))
  }

  /// The refused declarations of this class and its superclasses.
  var refusedDeclarations: [DeclarationError] {
    let own = Self.failures.read { $0 }.filter { $0.type == SwiftType(type) }
    return own + (superclass?.refusedDeclarations ?? [])
  }
}
