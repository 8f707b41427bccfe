// SPDX-License-Identifier: Apache-2.0
// What the compiler finds where there is no proxy, so that it says that once, and nothing of 'GeneratedProxy'.

@available(*, unavailable, message: "write 'Multicast<PProxy>', with '@Forwardable' on 'P'")
extension Multicast {
  public final var proxy: Subject { fatalError() }

  public final var untyped: MulticastProxy { fatalError() }

  // Where there is a proxy, the compiler finds what says that a message has no such name.
  @_disfavoredOverload
  public final var messages: MulticastMessages<_NoProxy> { fatalError() }

  @discardableResult
  public final func add(
    _ target: Subject? = nil, unchecked: Subject? = nil, strongly: Bool = false,
    on lane: DeliveryLane, priority: Int? = nil, group: String? = nil, once: Bool = false
  ) -> ForwardingToken { fatalError() }
}

/// In place of a proxy. It has messages of all names, so that the rest of a line is no error.
@_documentation(visibility: internal)
public enum _NoProxy: Sendable {}

extension MulticastMessages<_NoProxy> {
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public subscript<Result, each Argument>(
    dynamicMember name: String
  ) -> MulticastMessage<Proxy, Result, repeat each Argument> { fatalError() }

  @_documentation(visibility: internal)
  @_disfavoredOverload
  public subscript<each Argument>(
    dynamicMember name: String
  ) -> MulticastMessage<Proxy, Void, repeat each Argument> { fatalError() }
}

// What the compiler finds for a mistyped name, so that it says that, and nothing of key paths.
@available(
  *, unavailable,
  message:
    "no message has this name and these arguments: code completion lists the names after 'messages.'"
)
extension MulticastMessages {
  /// No message.
  @_documentation(visibility: internal)
  public subscript<Result, each Argument>(
    dynamicMember name: String
  ) -> MulticastMessage<Proxy, Result, repeat each Argument> { fatalError() }

  /// No message, where nothing says what its result is.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public subscript<each Argument>(
    dynamicMember name: String
  ) -> MulticastMessage<Proxy, Void, repeat each Argument> { fatalError() }
}
