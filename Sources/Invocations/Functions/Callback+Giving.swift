// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// A callback that C has: a function, a context, and what ends it, which C calls when it needs the function
/// no more.
///
/// ```swift
/// let double = try Callback { (number: Int32) in 2 * number }
/// let given = double.keptUntilDestroyed()
/// unsafe given.pointer.function(as: (@convention(c) (Int32) -> Int32).self)(21)  // 42
/// unsafe given.destroy(given.context)
/// ```
@safe
public struct GivenCallback: @unchecked Sendable {
  // SAFETY: the words are addresses; C may use them on any thread.

  /// The function.
  public let pointer: CallbackPointer
  /// What `destroy` takes. The function needs no context, so that a C function may have it at any place,
  /// or at none.
  public let context: UnsafeMutableRawPointer

  /// The function that ends the callback; it takes the context. A second call is reported as a
  /// ``ForwardingEvent``, and does nothing.
  public var destroy: @convention(c) (UnsafeMutableRawPointer?) -> Void {
    { context in unsafe fwd_callback_release(context) }
  }
}

extension Callback {
  /// Keeps this callback until C calls ``GivenCallback/destroy``, also from the closure itself.
  ///
  /// If a C function fails without calling it, call it yourself.
  ///
  /// - Precondition: C does not have the callback already.
  public func keptUntilDestroyed() -> GivenCallback { given(endsByCall: false) }

  /// Keeps this callback until C has called it, once. A second call answers zero, and is reported as a
  /// ``ForwardingEvent``, like one of a callback that is gone.
  ///
  /// If C will not call it, call ``GivenCallback/destroy``.
  ///
  /// - Precondition: C does not have the callback already.
  public func keptUntilCalled() -> GivenCallback { given(endsByCall: true) }

  private func given(endsByCall: Bool) -> GivenCallback {
    let owner = unsafe Unmanaged.passRetained(self)
    let context = unsafe fwd_callback_give(handle, owner.toOpaque(), endsByCall ? 1 : 0)
    guard let context = unsafe context else {
      fatalError(
        "C has this callback already; make a new 'Callback' each time that C is to keep one")
    }
    return unsafe GivenCallback(pointer: pointer, context: context)
  }
}
