// SPDX-License-Identifier: Apache-2.0
public import Invocations

// The calls of a message as an asynchronous sequence: a target that buffers arguments for a
// consumer.

extension MulticastProxy {
  /// Returns the arguments of each call of a message that has no result, in the order of the
  /// deliveries.
  ///
  /// ```swift
  /// let saves = observers.calls(of: try Message<Void, Int>("saved:"))
  /// try Message<Void, Int>("saved:")(5, on: observers)
  /// for await id in saves {
  ///   id  // 5
  ///   break
  /// }
  /// ```
  ///
  /// The stream is a target from now on, for as long as it exists or is iterated. It ends when its
  /// registration is removed, the proxy is deallocated, or the iterating task is cancelled.
  ///
  /// - Parameters:
  /// - policy: how many calls are buffered; all of them by default.
  /// - priority: see ``add(_:strongly:on:priority:group:once:)``.
  /// - group: see ``add(_:strongly:on:priority:group:once:)``.
  public func calls<each Argument: Sendable>(
    of message: Message<Void, repeat each Argument>,
    buffering policy: AsyncStream<(repeat each Argument)>.Continuation.BufferingPolicy = .unbounded,
    priority: Int? = nil, group: String? = nil
  ) -> AsyncStream<(repeat each Argument)> {
    calls(message.selector, message.prepared, policy, priority, group)
  }

  /// Returns the arguments of each call of a message of C values.
  ///
  /// The parameters are those of the other overload.
  public func calls<each Argument: Sendable>(
    of message: Message<NoResult, repeat each Argument>,
    buffering policy: AsyncStream<(repeat each Argument)>.Continuation.BufferingPolicy = .unbounded,
    priority: Int? = nil, group: String? = nil
  ) -> AsyncStream<(repeat each Argument)> {
    calls(message.selector, message.prepared, policy, priority, group)
  }

  private func calls<each Argument: Sendable>(
    _ selector: Selector, _ message: PreparedMessage,
    _ policy: AsyncStream<(repeat each Argument)>.Continuation.BufferingPolicy,
    _ priority: Int?, _ group: String?
  ) -> AsyncStream<(repeat each Argument)> {
    let (stream, continuation) = AsyncStream<(repeat each Argument)>.makeStream(
      bufferingPolicy: policy)
    let method = Implementation(message.plan) { call in
      continuation.yield(try message.arguments(of: call, as: repeat (each Argument).self))
    }
    let target = StreamTarget(selector, method) { continuation.finish() }
    let token = add(target, strongly: true, priority: priority, group: group)
    continuation.onTermination = { _ in token.remove() }
    return stream
  }
}

extension MulticastMessage where Result == Void, repeat each Argument: Sendable {
  /// Returns the arguments of each call, like
  /// ``MulticastProxy/calls(of:buffering:priority:group:)-(Message<Void,Argument>,_,_,_)``.
  ///
  /// - Throws: an ``InvocationError`` if the types of the message cannot be passed.
  public func calls(
    buffering policy: AsyncStream<(repeat each Argument)>.Continuation.BufferingPolicy = .unbounded,
    priority: Int? = nil, group: String? = nil
  ) throws(InvocationError) -> AsyncStream<(repeat each Argument)> {
    untyped.calls(
      of: try requirement.checked, buffering: policy, priority: priority, group: group)
  }
}

/// The target that feeds a stream.
private final class StreamTarget: MethodProviding, Sendable {
  private let selector: Selector
  private let method: Implementation
  private let finish: @Sendable () -> Void

  init(_ selector: Selector, _ method: Implementation, finish: @escaping @Sendable () -> Void) {
    self.selector = selector
    self.method = method
    self.finish = finish
  }

  deinit { finish() }

  func ownMethod(for selector: Selector) -> Implementation? {
    selector == self.selector ? method : nil
  }
}
