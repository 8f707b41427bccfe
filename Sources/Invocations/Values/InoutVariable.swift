// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

import Glibc

/// A variable that is lent to the targets of a message. `inout` arguments are passed as one.
///
/// Each target changes the variable itself, so a later target sees the changes of earlier ones.
///
/// ```swift
/// let shouter = ClosureTarget()
/// try shouter.register("edit:") { (text: InoutVariable<String>) in
///   try text.change { $0 += "!" }
/// }
/// var text = "hello"
/// try InoutVariable.lend(&text) { variable in
///   try Message<Void, InoutVariable<String>>("edit:")(variable, on: shouter)
/// }
/// text  // hello!
/// ```
///
/// A variable can be used on the lender's thread only, and until the loan ends. Any other use
/// throws ``InvocationError/variableNotLent(_:)``, and lanes to other threads refuse the message.
public struct InoutVariable<Value>: Sendable {
  private let loan: Loan

  /// Lends a variable while `body` runs.
  ///
  /// - Throws: The error of `body`.
  public static func lend<Result, Failure: Error>(
    _ value: inout Value, _ body: (InoutVariable) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe withUnsafeMutablePointer(to: &value) { address throws(Failure) in
      let loan = unsafe Loan(address)
      defer { loan.end() }
      return try body(InoutVariable(loan: loan))
    }
  }

  /// Changes the variable.
  ///
  /// - Throws: ``InvocationError/variableNotLent(_:)`` on another thread, after the loan, or while
  ///   the variable is being changed; or the error of `body`.
  public func change<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
    try loan.change(body)
  }

  /// The current value of the variable.
  ///
  /// - Throws: ``InvocationError/variableNotLent(_:)`` on another thread, after the loan, or while
  ///   the variable is being changed.
  public var value: Value {
    get throws { try loan.kept ?? loan.change { $0 } }
  }

  /// A snapshot of the variable for a call that is retained. It never changes, and any thread may
  /// read it.
  ///
  /// - Throws: ``InvocationError/variableNotLent(_:)`` if the variable cannot be read here.
  var kept: InoutVariable {
    get throws(InvocationError) {
      if loan.kept != nil { return self }
      guard let value = try? loan.change({ $0 }) else {
        throw .variableNotLent(SwiftType(Value.self))
      }
      return InoutVariable(loan: Loan(keeping: value))
    }
  }

  @safe
  private final class Loan: @unchecked Sendable {
    // SAFETY: only the lender's thread reads or writes the mutable state, and the address is valid
    // until that thread ends the loan.
    private var address: UnsafeMutablePointer<Value>?
    private let thread = pthread_self()
    /// The value of a snapshot; nil for a loan.
    let kept: Value?

    @unsafe
    init(_ address: UnsafeMutablePointer<Value>) {
      // Swift has no address for a value without a size.
      let isNowhere = MemoryLayout<Value>.size == 0
      unsafe self.address =
        isNowhere ? UnsafeMutablePointer(bitPattern: UInt(FWD_NO_MEMORY)) : address
      kept = nil
    }

    init(keeping value: Value) {
      unsafe address = nil
      kept = value
    }

    func end() { unsafe address = nil }

    func change<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
      guard pthread_equal(thread, pthread_self()) != 0, let address = unsafe address else {
        throw InvocationError.variableNotLent(SwiftType(Value.self))
      }
      // Clears the address, so that `body` cannot change the variable a second time.
      unsafe self.address = nil
      defer { unsafe self.address = address }
      return try unsafe body(&address.pointee)
    }
  }
}

extension InoutVariable: LentVariable {}

/// A value that other threads cannot use.
protocol LentVariable {
  /// A snapshot without a loan.
  ///
  /// - Throws: ``InvocationError/variableNotLent(_:)`` if the value cannot be read.
  var kept: Self { get throws(InvocationError) }
}
