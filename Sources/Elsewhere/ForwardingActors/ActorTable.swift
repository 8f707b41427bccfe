// SPDX-License-Identifier: Apache-2.0
import Distributed
import ForwardingRemote
import Invocations

/// The actors of a node by name. The table does not retain them.
final class ActorTable: Sendable {
  private let entries = Guarded<[String: Entry]>([:])

  private enum Entry {
    /// The name is reserved for an actor that will be made.
    case kept
    /// An actor of the name is being made.
    case assigned
    case ready(LocalActor)
  }

  /// Reserves a name for an actor that is about to be made. Returns false if the name is taken.
  func keep(_ name: String) -> Bool {
    entries.withLockInPlace { entries in
      if entries[name] != nil { return false }
      entries[name] = .kept
      return true
    }
  }

  /// Frees a reserved name, unless an actor has got it.
  func giveBack(_ name: String) {
    entries.withLockInPlace { if case .kept = $0[name] { $0[name] = nil } }
  }

  /// Assigns a reserved name to an actor. Returns false if the name is not reserved.
  func assign(kept name: String) -> Bool {
    entries.withLockInPlace { entries in
      guard case .kept = entries[name] else { return false }
      entries[name] = .assigned
      return true
    }
  }

  func assign(_ name: String) {
    entries.withLockInPlace { _ = $0.updateValue(.assigned, forKey: name) }
  }

  func ready(_ name: String, _ actor: LocalActor) {
    let old = entries.withLockInPlace { $0.updateValue(.ready(actor), forKey: name) }
    withExtendedLifetime(old) {}
  }

  func resign(_ name: String) {
    let old = entries.withLockInPlace { $0.removeValue(forKey: name) }
    withExtendedLifetime(old) {}
  }

  /// The actor of a name, if it exists and is ready.
  func find(_ name: String) -> LocalActor? {
    entries.read { entries in
      if case .ready(let actor) = entries[name] { actor } else { nil }
    }
  }
}

/// An actor that other nodes may call.
struct LocalActor: Sendable {
  /// The mangled name of its type.
  let typeName: String
  let type: any DistributedActor.Type
  private let actor: WeakActor
  private let call:
    @Sendable (
      String, MessagingActorSystem.InvocationDecoder, MessagingActorSystem.ResultHandler
    ) async throws -> Void

  /// A weak reference to an actor.
  private final class WeakActor: Sendable {
    weak let actor: (any DistributedActor)?
    init(_ actor: any DistributedActor) { self.actor = actor }
  }

  init<Act: DistributedActor>(_ actor: Act) where Act.ID == MessagingActorSystem.ActorID {
    type = Act.self
    typeName = _mangledTypeName(Act.self) ?? ""
    let weak = WeakActor(actor)
    self.actor = weak
    call = { method, decoder, handler in
      guard let actor = weak.actor as? Act else { return decoder.outcome.refuse(.targetGone, "") }
      var decoder = decoder
      try await decoder.system.executeDistributedTarget(
        on: actor, target: RemoteCallTarget(method), invocationDecoder: &decoder, handler: handler)
    }
  }

  /// The actor; nil if it no longer exists.
  var resolved: (any DistributedActor)? { actor.actor }

  /// Performs a method, which must be one of the actor's, with the right number of arguments.
  func perform(
    _ method: String, _ decoder: MessagingActorSystem.InvocationDecoder,
    _ handler: MessagingActorSystem.ResultHandler
  ) async {
    do { try await call(method, decoder, handler) } catch {
      // Errors of the method go to the handler, so this is an error of the runtime.
      decoder.outcome.refuse(.unknownMessage, "")
    }
  }
}
