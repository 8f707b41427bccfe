import TypeEncodings

/// The methods of one class: what its instances answer when an invocation is sent to them.
///
/// Any class can have one; it need not know. Subclasses inherit, and may override:
///
/// ```swift
/// try MethodTable.of(Counter.self).register("add:") { (counter: Counter, step: Int32) in
///   counter.value += step
/// }
/// ```
public final class MethodTable: Sendable {
  private static let tables = Guarded<[ObjectIdentifier: MethodTable]>([:])

  private let methods = Guarded<[Selector: Implementation]>([:])

  private init() {}

  /// The table of a class itself, empty at first.
  public static func of(_ type: AnyClass) -> MethodTable {
    tables.withLock { tables in
      let key = ObjectIdentifier(type)
      if let known = tables[key] { return known }
      let made = MethodTable()
      tables[key] = made
      return made
    }
  }

  /// Finds the method of a class or its nearest superclass that has it.
  static func method(
    _ selector: Selector, of type: AnyClass
  ) throws(InvocationError) -> Implementation {
    var current: AnyClass? = type
    while let searched = current {
      let table = tables.withLock { $0[ObjectIdentifier(searched)] }
      if let method = table?.methods.withLock({ $0[selector] }) { return method }
      current = _getSuperclass(searched)
    }
    throw .unrecognizedSelector(className: "\(type)", selector: selector.name)
  }

  /// Registers a Swift closure; its encoding is derived from its types.
  public func register<Receiver: AnyObject, Value: CallValue, each Argument: CallValue>(
    _ selector: String,
    _ body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    let plan = try Self.plan(selector, Value.typeEncoding, repeat (each Argument).self)
    add(
      try Selector(selector),
      Implementation(
        plan,
        .closure { frame in
          var cursor = ArgumentCursor(plan: plan, frame: frame, index: 2)
          let receiver: Receiver = try Self.receiver(plan, frame)
          let result = try body(receiver, repeat try cursor.next((each Argument).self))
          try result.store(in: frame.result(of: plan))
        }))
  }

  /// Registers a Swift closure without a result.
  public func register<Receiver: AnyObject, each Argument: CallValue>(
    _ selector: String,
    _ body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Void
  ) throws(InvocationError) {
    let plan = try Self.plan(selector, "v", repeat (each Argument).self)
    add(
      try Selector(selector),
      Implementation(
        plan,
        .closure { frame in
          var cursor = ArgumentCursor(plan: plan, frame: frame, index: 2)
          let receiver: Receiver = try Self.receiver(plan, frame)
          try body(receiver, repeat try cursor.next((each Argument).self))
        }))
  }

  /// Registers a C function whose first parameters are the receiver and the selector.
  ///
  /// - Parameter returnsRetained: whether an object result is the caller's to release.
  /// - Safety: the function's C type must be the one that `encoding` describes.
  @unsafe
  public func register(
    _ selector: String, encoding: String, unsafeFunction function: UnsafeRawPointer?,
    returnsRetained: Bool = false
  ) throws(InvocationError) {
    let signature = try InvocationError.wrapping { () throws(TypeEncodingError) in
      try MethodSignature(method: encoding, selector: selector)
    }
    let plan = try CallPlan.shared(for: signature)
    add(
      try Selector(selector),
      unsafe try Implementation(plan, function: function, returnsRetained: returnsRetained))
  }

  private func add(_ selector: Selector, _ implementation: Implementation) {
    methods.withLock { $0[selector] = implementation }
  }

  private static func plan<each Argument: CallValue>(
    _ selector: String, _ result: String, _ arguments: repeat (each Argument).Type
  ) throws(InvocationError) -> CallPlan {
    let signature = try SwiftBody.signature(
      result: result, hidden: "@:", repeat each arguments)
    try InvocationError.wrapping { () throws(TypeEncodingError) in
      try signature.checkArity(ofSelector: selector)
    }
    return try CallPlan.shared(for: signature)
  }

  private static func receiver<Receiver: AnyObject>(
    _ plan: CallPlan, _ frame: FrameReference
  ) throws(InvocationError) -> Receiver {
    let word = frame.argument(0, of: plan).word
    guard let receiver = OwnedObject.object(at: word) as? Receiver else {
      throw .wrongClass(expected: "\(Receiver.self)", given: "another class")
    }
    return receiver
  }
}
