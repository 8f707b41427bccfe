// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// The function pointer of a closure. It is valid while the callback or the scope that it comes from is.
///
/// ```swift
/// var sum = 0
/// let add = { (number: Int32) in sum += Int(number) }
/// withCallback(add) { pointer, _ in
///   let function = unsafe pointer.function(as: (@convention(c) (Int32) -> Void).self)
///   function(40)
///   function(2)
/// }
/// sum  // 42
/// ```
@safe
@frozen
public struct CallbackPointer: @unchecked Sendable {
  // SAFETY: the address alone is shared.

  /// The address of the function.
  public let address: UnsafeRawPointer

  @usableFromInline
  init(_ address: UnsafeRawPointer) { unsafe self.address = address }

  /// A context that is not NULL, as some C functions want it.
  @usableFromInline var context: UnsafeMutableRawPointer {
    unsafe UnsafeMutableRawPointer(mutating: address)
  }

  /// The function as a C function type, or an optional one.
  ///
  /// - Precondition: `type` is one word, unlike the type of a Swift closure.
  /// - Safety: `type` must be a C function type of the closure's signature. In `withCallback`, C must not call it
  ///   while code in the scope changes a variable that the closure uses.
  @inlinable @unsafe
  public func function<Function>(as type: Function.Type = Function.self) -> Function {
    guard MemoryLayout<Function>.size == MemoryLayout<UInt>.size else {
      fatalError("'\(type)' is not the type of a C function: write '@convention(c)' in front of it")
    }
    return unsafe unsafeBitCast(address, to: type)
  }
}

/// The calls of one closure that does not escape: by one thread, once at a time, until it has thrown.
@frozen
@usableFromInline
struct CallbackScope<Failure: Error> {
  /// The thread that may call; 0 during a call, and after one that has thrown.
  @usableFromInline var caller: UInt
  @usableFromInline let thread: UInt
  /// What the closure has thrown.
  @usableFromInline var failure: Failure?

  /// Where the arguments are; nil if not all are in registers.
  @usableFromInline let fit: CallbackFit?

  @inlinable
  init<Value: CallValue, each Argument: CallValue>(
    _ types: FittedPlan<Value, repeat each Argument>.Type
  ) {
    self.init(CallbackFit.of(types))
  }

  @inlinable
  init(_ fit: CallbackFit?) {
    self.fit = fit
    thread = fwd_running_thread()
    caller = thread
  }

  /// Begins a call. Returns false if an earlier one has thrown.
  @inlinable
  @inline(__always)
  mutating func begin() -> Bool {
    let isFree = caller == fwd_running_thread()
    if isFree { caller = 0 } else { check() }
    return isFree
  }

  @inlinable
  @inline(__always)
  mutating func end() { caller = thread }

  /// Ends the program if a call would race with another one, or change variables that it is changing.
  @usableFromInline
  @inline(never)
  func check() {
    if thread != fwd_running_thread() {
      fatalError("C called the closure of 'withCallback' on another thread; use a 'Callback'")
    }
    if failure == nil {
      fatalError(
        "C called the closure of 'withCallback' while an earlier call of it was running; use a 'Callback'"
      )
    }
  }

  /// Ends a call whose last argument the closure does not take.
  @usableFromInline
  @inline(never)
  mutating func refuse(nullPointer index: Int) -> CallbackRegisters.Result {
    end()
    Callback.report(InvocationError.nullPointer(index: index))
    return CallbackRegisters.nothing
  }

  /// Answers a call from its registers. `body` returns nil for a null pointer that its type does not have.
  // `body` is a local function of the closure, because the compiler does not inline a closure of a closure.
  @inlinable
  @inline(__always)
  mutating func answer<Value: CallValue>(
    _ integers: CallbackRegisters.Integers, _ vectors: CallbackRegisters.Vectors,
    _ body: (inout CallbackRegisters) throws(Failure) -> Value?
  ) -> CallbackRegisters.Result {
    guard begin() else { return CallbackRegisters.nothing }
    var registers = CallbackRegisters(integers, vectors, fit)
    do throws(Failure) {
      guard let value = try body(&registers) else {
        return refuse(nullPointer: registers.lastArgument)
      }
      end()
      return registers.returning(value)
    } catch {
      failure = error
      return CallbackRegisters.nothing
    }
  }

  /// Calls `run` with a function pointer of `answer`. Returns nil if the values are elsewhere, or there is no
  /// code for such a pointer.
  // `answer` is passed on as it is: the compiler does not inline a closure that another one captures.
  @inlinable
  @inline(__always)
  static func run<Result>(
    _ fit: CallbackFit?,
    _ run: (CallbackPointer, UnsafeMutableRawPointer) throws(Failure) -> Result,
    _ answer: (CallbackRegisters.Integers, CallbackRegisters.Vectors) -> CallbackRegisters.Result
  ) -> Swift.Result<Result, Failure>? {
    if fit == nil { return nil }
    var outcome: Swift.Result<Result, Failure>?
    withScope(answer) { pointer in
      outcome = Swift.Result { () throws(Failure) in try unsafe run(pointer, pointer.context) }
    }
    return outcome
  }

  /// The outcome of `run`, unless the closure has thrown: its error comes first.
  @inlinable
  func end<Result>(_ outcome: Swift.Result<Result, Failure>?) throws(Failure) -> Result? {
    if let failure { throw failure }
    return try outcome?.get()
  }

  /// Calls `run` with a function pointer whose calls are answered from frames, which takes allocations.
  @usableFromInline
  static func framed<Value: CallValue, each Argument: CallValue, Result>(
    _ body: (repeat each Argument) throws(Failure) -> Value,
    _ run: (CallbackPointer, UnsafeMutableRawPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let outcome = withoutActuallyEscaping(body) { body -> Swift.Result<Result, Failure> in
      nonisolated(unsafe) let (body, scope) = (body, Box())
      do throws(InvocationError) {
        let callback = try Callback(onError: { if !($0 is Ended) { Callback.report($0) } }) {
          (arguments: repeat each Argument) throws -> Value in
          guard unsafe scope.value.begin() else { throw Ended() }
          do throws(Failure) {
            let value = try unsafe body(repeat each arguments)
            unsafe scope.value.end()
            return value
          } catch {
            unsafe scope.value.failure = error
            throw Ended()
          }
        }
        let pointer = unsafe CallbackPointer(callback.address)
        let outcome = Swift.Result { () throws(Failure) in
          try unsafe run(pointer, pointer.context)
        }
        withExtendedLifetime(callback) {}
        return unsafe scope.value.failure.map { .failure($0) } ?? outcome
      } catch {
        // Its types are refused, or the system is out of memory or descriptors: neither is input, and
        // `Failure` has no case for it.
        fatalError("'withCallback' cannot make a C function for its closure: \(error)")
      }
    }
    return try outcome.get()
  }

  /// What the closure has thrown is in the scope.
  private struct Ended: Error {}

  private final class Box {
    var value = CallbackScope(nil)
  }
}

/// Calls `run` with the function pointer of a closure, if there is code for it.
@usableFromInline
func withScope(
  _ body: (CallbackRegisters.Integers, CallbackRegisters.Vectors) -> CallbackRegisters.Result,
  _ run: (CallbackPointer) -> Void
) {
  Callback.tellsEvents
  _ = unsafe runScope(body) { address in unsafe run(CallbackPointer(address)) }
}

/// Calls `run` with the address of a function that runs `body`; implemented in C, where a closure that
/// does not escape can be stored without an allocation.
@_silgen_name("fwd_scope_run")
@unsafe
private func runScope(
  _ body: (CallbackRegisters.Integers, CallbackRegisters.Vectors) -> CallbackRegisters.Result,
  _ run: (UnsafeRawPointer) -> Void
) -> Int32
