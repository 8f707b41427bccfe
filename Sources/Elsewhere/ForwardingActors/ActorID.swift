// SPDX-License-Identifier: Apache-2.0
extension MessagingActorSystem {
  /// Identifies an actor: its name, and the name of its node.
  ///
  /// ```swift
  /// MessagingActorSystem.ActorID("greeter", at: "greeters")  // greeter at greeters
  /// ```
  ///
  /// An ID is a value that may be sent and stored, and that any code may make. The node finds out
  /// whether the actor exists when the actor is called.
  public struct ActorID: Hashable, Sendable {
    /// The name of the actor on its node.
    public let name: String
    /// The name of the node.
    public let node: String

    /// The most bytes of either name.
    public static let limit = 255

    /// Makes the ID of an actor that a node may have.
    public init(_ name: String, at node: String) {
      self.name = name
      self.node = node
    }
  }
}

extension MessagingActorSystem.ActorID: CustomStringConvertible {
  public var description: String { "\(name) at \(node)" }
}

extension MessagingActorSystem.ActorID: Codable {
  private enum CodingKeys: CodingKey { case name, node }

  /// Decodes an ID.
  ///
  /// - Throws: `DecodingError` if a name is longer than ``limit``.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let names = try [CodingKeys.name, .node].map { key in
      let name = try container.decode(String.self, forKey: key)
      guard name.utf8.count <= Self.limit else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: container, debugDescription: "\(Self.limit) bytes are the limit")
      }
      return name
    }
    self.init(names[0], at: names[1])
  }
}
