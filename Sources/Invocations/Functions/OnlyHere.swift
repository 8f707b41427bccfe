// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// Makes a closure `Sendable` that C calls on this thread or, in an actor, on this actor.
///
/// ```swift
/// var sum = 0
/// let add = try Callback(unsafe onlyHere { (number: Int32) in sum += Int(number) })
/// unsafe add.pointer.function(as: (@convention(c) (Int32) -> Void).self)(42)
/// sum  // 42
/// ```
///
/// A call elsewhere ends the program with a sentence.
///
/// - Safety: what the closure captures must not be used elsewhere, and the closure is released where its
///   callback is, on any thread. A task without an actor may go on on another thread.
@unsafe
@inlinable
public func onlyHere<each Argument, Value>(
  isolation: isolated (any Actor)? = #isolation,
  _ body: @escaping (repeat each Argument) throws -> Value
) -> @Sendable (repeat each Argument) throws -> Value {
  // The thread; 0 for an actor, which is captured weakly: it may retain its callbacks.
  let thread = isolation == nil ? fwd_thread_number() : 0
  nonisolated(unsafe) let body = body
  return { [weak isolation] (arguments: repeat each Argument) in
    if thread != fwd_thread_number() { checkHome(thread, isolation) }
    return try unsafe body(repeat each arguments)
  }
}

/// Ends the program on another thread or actor than that of a closure, which would race with its maker.
@usableFromInline
@inline(never)
func checkHome(_ thread: UInt64, _ actor: (any Actor)?) {
  if thread != 0 {
    fatalError(
      "C called a callback on another thread than the one that made it with 'onlyHere'; use a "
        + "'@Sendable' closure, which may be called on any thread")
  }
  if let actor, CurrentExecutor.isThat(of: actor) { return }
  let name = actor.map { "\(type(of: $0))" } ?? "actor"
  fatalError(
    "C called a callback outside of the \(name) that made it with 'onlyHere'; use a '@Sendable' closure"
  )
}
