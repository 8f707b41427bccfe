// A closure whose result is no CallValue would fit none of the overloads, or the one without a result;
// the compiler then says little, or nothing. These say what to do.

extension Implementation {
  @available(
    *, unavailable,
    message:
      "an argument or the result is no CallValue: use numbers, Bool, CallObject, CallStructure, CarriedValue, or text, pointers and objects, which may be optional"
  )
  public convenience init<Receiver: AnyObject, Result, each Argument>(
    encoding: String? = nil,
    method body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Result
  ) throws(InvocationError) { throw .selectorNotSet }

}

extension MethodRegistry {
  @available(
    *, unavailable,
    message:
      "an argument or the result is no CallValue: use numbers, Bool, CallObject, CallStructure, CarriedValue, or text, pointers and objects, which may be optional"
  )
  public func register<Receiver: AnyObject, Result, each Argument>(
    _ selector: Selector, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (Receiver, repeat each Argument) throws -> Result
  ) throws(Failure) {}

}

extension FunctionTable {
  @available(
    *, unavailable,
    message:
      "an argument or the result is no CallValue: use numbers, Bool, CallObject, CallStructure, CarriedValue, or text, pointers and objects, which may be optional"
  )
  public func register<Result, each Argument>(
    _ name: String, replacing: Bool = false, encoding: String? = nil,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Result
  ) throws(InvocationError) {}

}

extension Callback {
  @available(
    *, unavailable,
    message:
      "an argument or the result is no CallValue: use numbers, Bool, CallObject, CallStructure, CarriedValue, or text, pointers and objects, which may be optional"
  )
  public convenience init<Result, each Argument>(
    encoding: String? = nil, onError: @escaping ErrorHandler = Callback.report,
    _ body: @escaping @Sendable (repeat each Argument) throws -> Result
  ) throws(InvocationError) { throw .nullFunction }

}
