// SPDX-License-Identifier: Apache-2.0
import Distributed
import ForwardingActors

/// Actors nested in a type. Their methods do not belong to that type.
extension Clerk {
  static func callInStructure(_ id: MessagingActorSystem.ActorID, _ system: MessagingActorSystem)
    async throws
  {
    struct Local {
      distributed actor Inner {
        typealias ActorSystem = MessagingActorSystem
        distributed func add(_ number: Int) -> Int { -number }
      }
    }
    _ = try await Local.Inner.resolve(id: id, using: system).add(1)
  }

  static func callInEnumeration(_ id: MessagingActorSystem.ActorID, _ system: MessagingActorSystem)
    async throws
  {
    enum Local {
      distributed actor Inner {
        typealias ActorSystem = MessagingActorSystem
        distributed func add(_ number: Int) -> Int { -number }
      }
    }
    _ = try await Local.Inner.resolve(id: id, using: system).add(1)
  }

  static func callInClosure(_ id: MessagingActorSystem.ActorID, _ system: MessagingActorSystem)
    async throws
  {
    let call = { (id: MessagingActorSystem.ActorID, system: MessagingActorSystem) async throws in
      struct Local {
        distributed actor Inner {
          typealias ActorSystem = MessagingActorSystem
          distributed func add(_ number: Int) -> Int { -number }
        }
      }
      _ = try await Local.Inner.resolve(id: id, using: system).add(1)
    }
    try await call(id, system)
  }

  static func callInActor(_ id: MessagingActorSystem.ActorID, _ system: MessagingActorSystem)
    async throws
  {
    distributed actor Local {
      typealias ActorSystem = MessagingActorSystem
      distributed actor Inner {
        typealias ActorSystem = MessagingActorSystem
        distributed func add(_ number: Int) -> Int { -number }
      }
    }
    _ = try await Local.Inner.resolve(id: id, using: system).add(1)
  }

  static func callInExtension(_ id: MessagingActorSystem.ActorID, _ system: MessagingActorSystem)
    async throws
  {
    _ = try await Hidden.resolve(id: id, using: system).add(1)
  }
}

private extension Clerk {
  distributed actor Hidden {
    typealias ActorSystem = MessagingActorSystem
    distributed func add(_ number: Int) -> Int { -number }
  }
}

/// An actor that is declared as a stub by hand; normally `@Resolvable` makes stubs.
distributed actor Impostor: _DistributedActorStub {
  typealias ActorSystem = MessagingActorSystem
  distributed func add(_ number: Int) -> Int { -number }
}

/// A method of a stub that is not a requirement of the protocol.
extension $Greeting {
  distributed func added(_ number: Int) -> Int { -number }
}
