// SPDX-License-Identifier: Apache-2.0
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
