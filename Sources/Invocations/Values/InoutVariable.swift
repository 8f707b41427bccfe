import CForwardingShims

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A variable that is lent to the targets of a message: what an `inout` argument travels as.
///
/// Each target changes the variable itself, so a later one sees what an earlier one left.
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
/// It is there for the lender's thread alone, and until the loan ends. Others get
/// ``InvocationError/variableNotLent(_:)``, and lanes to other threads refuse the message.
public struct InoutVariable<Value>: Sendable {
  private let loan: Loan

  /// Lends a variable while `body` runs.
  public static func lend<Result, Failure: Error>(
    _ value: inout Value, _ body: (InoutVariable) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe withUnsafeMutablePointer(to: &value) { address throws(Failure) in
      let loan = unsafe Loan(address)
      defer { loan.end() }
      return try body(InoutVariable(loan: loan))
    }
  }

  /// Changes the variable. Throws if it is not lent to this thread, or is being changed.
  public func change<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
    try loan.change(body)
  }

  /// What the variable holds now.
  public var value: Value {
    get throws { try loan.kept ?? loan.change { $0 } }
  }

  /// What the variable holds now, for those who keep the call: it changes no more, and any thread may read it.
  /// Throws where nobody here may read it.
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
    // SAFETY: what changes is touched by the lender's thread alone, and the address is good until that
    // ends the loan.
    private var address: UnsafeMutablePointer<Value>?
    private let thread = pthread_self()
    /// What is kept where nothing is lent.
    let kept: Value?

    @unsafe
    init(_ address: UnsafeMutablePointer<Value>) {
      // Swift has no address for what takes no memory.
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
      // Nobody else may change it meanwhile.
      unsafe self.address = nil
      defer { unsafe self.address = address }
      return try unsafe body(&address.pointee)
    }
  }
}

extension InoutVariable: LentVariable {}

/// What no other thread may have.
protocol LentVariable {
  /// The same, without a loan. Throws where its value cannot be read.
  var kept: Self { get throws(InvocationError) }
}
