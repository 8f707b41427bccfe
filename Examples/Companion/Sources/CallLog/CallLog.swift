// SPDX-License-Identifier: Apache-2.0
public import Forwarding

/// Forwards the messages to an object, and keeps each call, to send all of them again.
///
/// Everything that it needs is public API of `Forwarding`.
public final class CallLog: ForwardingProxy {
  private let target: AnyObject
  public private(set) var calls: [Invocation] = []

  public init(of target: AnyObject) { self.target = target }

  override public func methodSignature(for selector: Selector) -> MethodSignature? {
    Introspection.signature(of: target, for: selector)
  }

  override public func forward(_ invocation: Invocation) throws {
    let call = invocation.copy()
    call.retainArguments()
    calls.append(call)
    try invocation.invoke(on: target)
  }

  public func sendAgain(to other: AnyObject) throws {
    for call in calls { try call.copy().invoke(on: other) }
  }
}
