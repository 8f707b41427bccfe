// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims
import TypeEncodings

/// A table of functions by name, each with the encoding of its C type.
///
/// ```swift
/// let functions = FunctionTable()
/// try unsafe functions.register("pow", encoding: "ddd", unsafeSymbolIn: Library("libm.so.6"))
/// try functions.call("pow", 2.0, 10.0, returning: Double.self)   // 1024.0
///
/// try functions.register("twice") { (number: Int32) in number * 2 }
/// try functions.call("twice", Int32(21), returning: Int32.self)  // 42
/// ```
///
/// Registering a name twice throws, unless `replacing` is true.
///
/// A table can be used from many threads. Unregistering a function does not disturb calls that have
/// begun, and a library stays open while one of its functions is registered.
@safe
public final class FunctionTable: Sendable {
  // SAFETY: one word, allocated in `init` and freed in `deinit`. It is changed under the lock, and read
  // under the lock or through a hold (`fwd_names.h`).
  @usableFromInline nonisolated(unsafe) let cell: UnsafeMutablePointer<UnsafeRawPointer?>
  private let lock = Guarded(())

  /// Makes an empty table.
  public init() {
    unsafe cell = .allocate(capacity: 1)
    unsafe cell.initialize(to: nil)
  }

  deinit {
    unsafe fwd_names_retire(cell.pointee)
    unsafe cell.deallocate()
  }

  // MARK: Registering

  /// Registers the C function at an address.
  ///
  /// - Parameters:
  ///   - fixedArgumentCount: for a variadic function, the number of arguments before its `...`.
  ///   - returnsRetained: whether the caller must release an object that the function returns.
  /// - Throws: ``InvocationError/duplicateName(_:)``; ``InvocationError/unfitFunction(name:reason:)``
  ///   if the address is NULL or the encoding is invalid.
  /// - Safety: `encoding` must describe the function's C type. Nothing can check that, and a call
  ///   through a wrong encoding is undefined behavior. Text that the function returns as a `*` must
  ///   stay unchanged while any code may read it.
  @unsafe
  public func register(
    _ name: String, replacing: Bool = false, encoding: String,
    unsafeFunction function: UnsafeRawPointer?, fixedArgumentCount: Int? = nil,
    returnsRetained: Bool = false
  ) throws(InvocationError) {
    let implementation = try Self.naming(name) { () throws(InvocationError) in
      let plan = try CallPlan.shared(forEncoding: encoding, fixedArgumentCount: fixedArgumentCount)
      return try unsafe Implementation(plan, function: function, returnsRetained: returnsRetained)
    }
    try register(name, replacing: replacing, implementation)
  }

  /// Registers a symbol of a library. If `symbol` is nil, it is the function's name.
  ///
  /// - Throws: ``InvocationError/duplicateName(_:)``; ``InvocationError/unfitFunction(name:reason:)``
  ///   if the library has no such symbol or the encoding is invalid.
  /// - Safety: as for
  ///   ``register(_:replacing:encoding:unsafeFunction:fixedArgumentCount:returnsRetained:)``.
  @unsafe
  public func register(
    _ name: String, replacing: Bool = false, encoding: String, unsafeSymbolIn library: Library,
    symbol: String? = nil, fixedArgumentCount: Int? = nil,
    returnsRetained: Bool = false
  ) throws(InvocationError) {
    let implementation = try Self.naming(name) { () throws(InvocationError) in
      let plan = try CallPlan.shared(forEncoding: encoding, fixedArgumentCount: fixedArgumentCount)
      let function = try unsafe library.address(of: symbol ?? name)
      return try unsafe Implementation(
        plan, function: function, returnsRetained: returnsRetained, keepAlive: library)
    }
    try register(name, replacing: replacing, implementation)
  }

  /// Registers a Swift closure over any types. They must fit `encoding`, or spell one if it is nil.
  ///
  /// - Throws: ``InvocationError/duplicateName(_:)``; ``InvocationError/unfitFunction(name:reason:)``
  ///   if `encoding` is invalid or does not fit the closure.
  @inlinable
  public func register<Value, each Argument>(
    _ name: String, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Value
  ) throws(InvocationError) {
    let fitted = try Self.naming(name) { () throws(InvocationError) in
      try FittedPlan<Value, repeat each Argument>(function: encoding)
    }
    try register(
      name, replacing: replacing, Implementation(fitted, SwiftBody.returning(fitted, body)))
  }

  /// Runs a part of registering or preparing a function. Its error gets the function's name.
  @usableFromInline
  static func naming<Part>(
    _ name: String, _ part: () throws(InvocationError) -> Part
  ) throws(InvocationError) -> Part {
    do { return try part() } catch { throw .unfitFunction(name: name, reason: error) }
  }

  /// Removes a function. Calls that have begun are not disturbed.
  ///
  /// - Returns: false if there was no such function.
  @discardableResult
  public func unregister(_ name: String) -> Bool {
    let old = unsafe lock.read { _ -> UnsafeRawPointer? in
      guard let known = unsafe NamedFunction.find(name, in: cell.pointee) else { return nil }
      return unsafe fwd_names_change(cell, known, nil, nil)
    }
    unsafe fwd_names_retire(old)
    return unsafe old != nil
  }

  // MARK: Looking up

  /// The names of all functions, in alphabetical order.
  ///
  /// - Complexity: O(*n* log *n*) for *n* functions.
  public var names: [String] {
    let names = lock.read { _ -> [String] in
      guard let table = unsafe cell.pointee?.assumingMemoryBound(to: FWDNameTable.self) else {
        return []
      }
      return unsafe (0...table.pointee.mask).compactMap { index in
        unsafe fwd_named_at(table, index).map {
          unsafe Unmanaged<NamedFunction>.fromOpaque($0).takeUnretainedValue().name
        }
      }
    }
    return names.sorted()
  }

  /// The implementation under a name, or nil.
  public subscript(name: String) -> Implementation? { retained(name)?.implementation }

  /// The implementation under a name.
  ///
  /// - Throws: ``InvocationError/unknownFunction(name:nearest:)``, which suggests the nearest name.
  public func function(named name: String) throws(InvocationError) -> Implementation {
    try known(name).implementation
  }

  @usableFromInline
  func known(_ name: String) throws(InvocationError) -> NamedFunction {
    guard let known = retained(name) else { throw unknownFunction(name) }
    return known
  }

  private func retained(_ name: String) -> NamedFunction? {
    lock.read { _ in
      unsafe NamedFunction.find(name, in: cell.pointee).map {
        unsafe Unmanaged<NamedFunction>.fromOpaque($0).takeUnretainedValue()
      }
    }
  }

  @usableFromInline
  func unknownFunction(_ name: String) -> InvocationError {
    .unknownFunction(name: name, nearest: NearestName.to(name, among: names))
  }

  /// Makes an invocation of a function, for `invoke(using:)`.
  ///
  /// - Throws: ``InvocationError/unknownFunction(name:nearest:)``.
  public func invocation(of name: String) throws(InvocationError) -> Invocation {
    Invocation(try function(named: name).plan)
  }

  // MARK: Calling

  /// Calls a function with typed arguments, and discards its result.
  ///
  /// - Throws: ``InvocationError/unknownFunction(name:nearest:)``; another ``InvocationError`` if
  ///   the types differ; or the error of the function.
  @inlinable
  public func call<each Argument: CallValue>(
    _ name: String, _ arguments: repeat each Argument
  ) throws {
    try unsafe withUnsafePointer(to: (repeat each arguments)) { tuple -> Void in
      try unsafe find(name, andCallWith: tuple, as: TypedFunction<Void, repeat each Argument>.self)
    }
  }

  /// Calls a function with arguments and a result of any types that fit its own, and returns its result.
  ///
  /// - Throws: ``InvocationError/unknownFunction(name:nearest:)``; another ``InvocationError`` if
  ///   the types differ; or the error of the function.
  @inlinable
  public func call<Value, each Argument>(
    _ name: String, _ arguments: repeat each Argument, returning type: Value.Type
  ) throws -> Value {
    try unsafe withUnsafePointer(to: (repeat each arguments)) {
      try unsafe find(name, andCallWith: $0, as: TypedFunction<Value, repeat each Argument>.self)
    }
  }

  /// Finds a function and calls it while it is held, with a tuple of arguments.
  @inlinable @unsafe
  @inline(__always)
  func find<Answer, Value, each Argument>(
    _ name: String, andCallWith tuple: UnsafeRawPointer,
    as type: TypedFunction<Value, repeat each Argument>.Type
  ) throws -> Answer {
    // A thread that cannot hold anything more retains the function.
    guard let thread = unsafe fwd_thread() else {
      return try unsafe known(name).call(tuple, as: type)
    }
    let hold = unsafe thread.pointee.top
    guard let table = unsafe fwd_hold(thread, cell) else {
      return try unsafe known(name).call(tuple, as: type)
    }
    defer { unsafe fwd_let_go_from(thread, hold) }
    guard let function = unsafe NamedFunction.find(name, in: table) else {
      throw unknownFunction(name)
    }
    return try unsafe Unmanaged<NamedFunction>.fromOpaque(function)._withUnsafeGuaranteedRef {
      try unsafe $0.call(tuple, as: type)
    }
  }

  /// Calls a function and returns its result along with the `errno` that C code left; 0 for a Swift
  /// closure.
  ///
  /// - Throws: ``InvocationError/unknownFunction(name:nearest:)``; another ``InvocationError`` if
  ///   the types differ; or the error of the function.
  public func callCapturingErrno<Value: CallValue, each Argument: CallValue>(
    _ name: String, _ arguments: repeat each Argument, returning type: Value.Type
  ) throws -> (result: Value, errno: Int32) {
    let function = try function(named: name)
    let call = try Self.naming(name) { () throws(InvocationError) in
      try recorded(function, repeat each arguments)
    }
    let code = try call.performCapturingErrno(function)
    return (try call.result(as: Value.self), code)
  }

  private func recorded<each Argument: CallValue>(
    _ function: Implementation, _ arguments: repeat each Argument
  ) throws(InvocationError) -> Invocation {
    let call = Invocation(function.plan)
    var count = 0
    for _ in repeat each arguments { count += 1 }
    guard count == function.plan.argumentCount else {
      throw .argumentCount(expected: function.plan.argumentCount, given: count)
    }
    var index = 0
    for argument in repeat each arguments {
      try call.setArgument(argument, at: index)
      index += 1
    }
    return call
  }

  /// Registers an implementation, which may be registered under other names too.
  ///
  /// - Throws: ``InvocationError/duplicateName(_:)`` if the name is taken and `replacing` is false.
  public func register(
    _ name: String, replacing: Bool = false, _ implementation: Implementation
  ) throws(InvocationError) {
    let function = NamedFunction(name, implementation)
    let thing = unsafe UnsafeRawPointer(Unmanaged.passUnretained(function).toOpaque())
    let (isAdded, old) = unsafe lock.read { _ -> (Bool, UnsafeRawPointer?) in
      let known = unsafe NamedFunction.find(name, in: cell.pointee)
      guard unsafe known == nil || replacing else { return (false, nil) }
      return unsafe (true, fwd_names_change(cell, known, function.key, thing))
    }
    unsafe fwd_names_retire(old)
    guard withExtendedLifetime(function, { isAdded }) else { throw .duplicateName(name) }
  }
}
