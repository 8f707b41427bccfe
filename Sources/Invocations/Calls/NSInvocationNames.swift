// SPDX-License-Identifier: Apache-2.0
// Names from Objective-C, each unavailable with a fix-it to the name in this package.

extension Invocation {
  @available(*, unavailable, renamed: "setArgument(_:at:)")
  public func setArgument<Value: CallValue>(_ value: Value, atIndex index: Int) {}

  @available(*, unavailable, renamed: "argument(at:as:)")
  public func getArgument(_ buffer: UnsafeMutableRawPointer, atIndex index: Int) {}

  @available(*, unavailable, renamed: "setResult(_:)")
  public func setReturnValue<Value: CallValue>(_ value: Value) {}

  @available(*, unavailable, renamed: "result(as:)")
  public func getReturnValue(_ buffer: UnsafeMutableRawPointer) {}

  @available(*, unavailable, renamed: "invoke(on:)")
  public func invokeWithTarget(_ target: AnyObject) {}

  @available(*, unavailable, renamed: "invoke(on:)")
  public func invoke(withTarget target: AnyObject) {}

  @available(*, unavailable, renamed: "argumentsRetained")
  public var isArgumentsRetained: Bool { false }
}

extension MethodTable {
  @available(*, unavailable, renamed: "register(_:_:)")
  public func addMethod(_ selector: Selector, _ implementation: Implementation) {}

  @available(*, unavailable, renamed: "replace(_:_:)")
  public func replaceMethod(_ selector: Selector, _ implementation: Implementation) {}

  @available(*, unavailable, renamed: "exchange(_:_:)")
  public func exchangeImplementations(_ one: Selector, _ other: Selector) {}
}

extension FunctionTable {
  @available(*, unavailable, renamed: "register(_:replacing:_:)")
  public func add(_ name: String, _ implementation: Implementation) {}
}
