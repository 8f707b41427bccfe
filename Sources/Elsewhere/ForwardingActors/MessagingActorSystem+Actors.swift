// SPDX-License-Identifier: Apache-2.0
public import Distributed

extension MessagingActorSystem {
  /// The name for the next actor that a closure makes.
  private final class Naming: Sendable {
    @TaskLocal static var current: Naming?

    let system: ObjectIdentifier
    let type: ObjectIdentifier
    let name: String

    init(_ system: MessagingActorSystem, _ type: Any.Type, _ name: String) {
      self.system = ObjectIdentifier(system)
      self.type = ObjectIdentifier(type)
      self.name = name
    }
  }

  /// Makes an actor with a name that other nodes know. The name is free again when the actor no
  /// longer exists.
  ///
  /// ```
  /// let greeter = try system.named("greeter") { Greeter(actorSystem: $0) }
  /// greeter.id  // greeter at greeters
  /// ```
  ///
  /// Other actors have random names.
  ///
  /// - Parameters:
  ///   - name: The name of the actor on this node.
  ///   - make: Makes the actor with the system that it receives.
  /// - Throws: ``ActorError/badName(_:)``, ``ActorError/nameTaken(_:)``, or
  ///   ``ActorError/notMade(_:)`` if the closure returns another actor; errors of the closure.
  public func named<Act: DistributedActor>(
    _ name: String, _ make: (MessagingActorSystem) throws -> Act
  ) throws -> Act where Act.ActorSystem == MessagingActorSystem {
    guard !name.isEmpty, name.utf8.count <= ActorID.limit else { throw ActorError.badName(name) }
    guard actors.keep(name) else { throw ActorError.nameTaken(name) }
    defer { actors.giveBack(name) }
    let actor = try Naming.$current.withValue(Naming(self, Act.self, name)) { try make(self) }
    guard actor.id == ActorID(name, at: node) else { throw ActorError.notMade(name) }
    return actor
  }

  // MARK: Requirements of DistributedActorSystem

  public func assignID<Act: DistributedActor>(_ type: Act.Type) -> ActorID where Act.ID == ActorID {
    if let naming = Naming.current, naming.system == ObjectIdentifier(self),
      naming.type == ObjectIdentifier(type), actors.assign(kept: naming.name)
    {
      return ActorID(naming.name, at: node)
    }
    let number = String(UInt64.random(in: .min ... .max), radix: 16)
    let name = "\(type)".prefix(100) + "-" + number
    actors.assign(String(name))
    return ActorID(String(name), at: node)
  }

  public func actorReady<Act: DistributedActor>(_ actor: Act) where Act.ID == ActorID {
    actors.ready(actor.id.name, LocalActor(actor))
  }

  public func resignID(_ id: ActorID) {
    if id.node == node { actors.resign(id.name) }
  }

  /// The actor of an ID of this node; nil for an ID of another node, which is not contacted.
  ///
  /// - Throws: ``ActorError/noActor(_:)`` or ``ActorError/otherType(_:)``.
  public func resolve<Act: DistributedActor>(
    id: ActorID, as type: Act.Type
  ) throws -> Act? where Act.ID == ActorID {
    guard id.node == node else { return nil }
    // A caller without the permission to pass the actor on does not learn whether it exists.
    if let permission = ArgumentPermission.current, !permission.allows(id.name) {
      throw ActorError.noActor(id)
    }
    guard let actor = actors.find(id.name)?.resolved else { throw ActorError.noActor(id) }
    guard let actor = actor as? Act else { throw ActorError.otherType(id) }
    return actor
  }
}
