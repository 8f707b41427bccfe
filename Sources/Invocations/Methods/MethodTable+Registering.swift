import TypeEncodings

extension MethodTable: MethodRegistry {
  /// Registers a C function whose first parameters are the receiver and the selector.
  ///
  /// - Parameter returnsRetained: whether an object result is the caller's to release.
  /// - Safety: the function's C type must be the one that `encoding` describes, and it must take every
  ///   object of the class, and of those below it, as its receiver. Added to another class, the
  ///   implementation is refused when a message is sent.
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
    let implementation = try make()
    try check(implementation, for: selector)
    if replacing {
      replace(selector, implementation)
    } else if !add(selector, implementation) {
      throw .duplicateName("-[\(type) \(selector)]")
    }
  }

  /// Refuses a selector with another number of colons than the method has arguments, and a method
  /// that takes objects of a class which this one is not below.
  private func check(
    _ implementation: Implementation, for selector: Selector
  ) throws(InvocationError) {
    try InvocationError.wrapping { () throws(TypeEncodingError) in
      try implementation.signature.checkArity(ofSelector: selector.name)
    }
    if let taken = implementation.receiver, !isClass(type, below: taken) {
      throw .wrongReceiver(selector, type: SwiftType(type), takes: SwiftType(taken))
    }
  }
}

/// A class that declares its methods itself, once, before the first message to it or a subclass.
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
/// The class that a method belongs to is the one its closure receives, so a subclass that inherits
/// this function inherits the methods, and one that overrides it adds its own. It runs once, while
/// other threads that ask for this class wait, and those that ask for others do not. Classes that
/// declare each other's methods on two threads do not wait for each other: one of them finds the
/// other half declared. It must not wait for a thread that needs this class: that thread waits for the
/// declaration.
///
/// The class is asked on whatever thread is first. A class that is isolated to an actor, the main
/// actor by default among them, says `nonisolated class func declareMethods`.
public protocol MethodDeclaring: CustomAnswering, SendableMetatype {
  /// Declares the methods of the class.
  static func declareMethods(_ methods: MethodDeclarations)
}

/// Where a class declares its methods.
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
/// A declaration that is wrong, such as one with too few colons, is an event, and is kept in
/// ``MethodTable/declarationErrors``. Sending the message throws
/// ``InvocationError/wrongDeclaration(_:type:declared:)``.
public struct MethodDeclarations: MethodRegistry, Sendable {
  /// The class that declares.
  private let type: AnyClass

  init(of type: AnyClass) { self.type = type }

  public func register(
    _ selector: Selector, for receiver: AnyClass?, replacing: Bool,
    making make: () throws(InvocationError) -> Implementation
  ) {
    // A subclass that inherits the declaration runs it once more, for the methods of its superclass.
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

/// A method that a class declared wrongly.
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
  /// What was wrong.
  public let cause: InvocationError

  public var description: String { "-[\(type) \(selector)] is declared wrongly: \(reason)" }

  /// The cause in one line, without the caret under the encoding.
  var reason: String {
    if case .encoding(let error) = cause { "\(error.reason)" } else { "\(cause)" }
  }
}

extension MethodTable {
  /// Adds methods that a face made. One that the class has stays, which is told of if its types differ:
  /// two protocols may have requirements of one name.
  package func declare(_ made: [(selector: Selector, method: Implementation)]) {
    for (selector, method) in add(made) {
      guard let known = own(selector), known.answering(method.plan) == nil else { continue }
      Self.refuse(
        DeclarationError(
          type: SwiftType(type), selector: selector, cause: .duplicateName("-[\(type) \(selector)]")
        ))
    }
  }

  private static let failures = Guarded<[DeclarationError]>([])

  /// The declarations that were refused so far.
  public static var declarationErrors: [DeclarationError] { failures.read { $0 } }

  fileprivate static func refuse(_ failure: DeclarationError) {
    failures.withLock { $0.append(failure) }
    ForwardingEvent.report(.wrongDeclaration(failure))
  }

  /// The declarations of this class, and of those above it, that were refused.
  var refusedDeclarations: [DeclarationError] {
    let own = Self.failures.read { $0 }.filter { $0.type == SwiftType(type) }
    return own + (superclass?.refusedDeclarations ?? [])
  }
}
