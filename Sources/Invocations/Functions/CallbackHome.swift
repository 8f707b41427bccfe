// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// Where a closure that is not `Sendable` may be called: on the actor that made its callback, or on the
/// thread if there was none.
@frozen
@usableFromInline
struct CallbackHome: Sendable {
  @usableFromInline let actor: (any Actor)?
  @usableFromInline let thread: UInt

  @inlinable
  init(_ actor: (any Actor)?) {
    self.actor = actor
    thread = fwd_thread_number()
  }

  /// Ends the program on another thread or actor: the closure would race with its maker.
  @inlinable
  @inline(__always)
  func check() { if actor != nil || thread != fwd_thread_number() { checkActor() } }

  @usableFromInline
  @inline(never)
  func checkActor() {
    guard let actor else {
      fatalError(
        "C called a callback on another thread than the one that made it with 'onlyHere'; a "
          + "'@Sendable' closure may be called on any thread")
    }
    if CurrentExecutor.isThat(of: actor) { return }
    fatalError("C called a callback outside of the \(type(of: actor)) that made it with 'onlyHere'")
  }
}
