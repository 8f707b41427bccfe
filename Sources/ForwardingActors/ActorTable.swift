import Distributed
import ForwardingRemote
import Invocations

/// The actors of a node, by their names. They belong to whoever made them.
final class ActorTable: Sendable {
  private let entries = Guarded<[String: Entry]>([:])

  private enum Entry {
    /// Somebody will make an actor of the name.
    case kept
    /// It is being made.
    case assigned
    case ready(LocalActor)
  }

  /// Keeps a name for an actor that is about to be made; false if it is not free.
  func keep(_ name: String) -> Bool {
    entries.withLockInPlace { entries in
      if entries[name] != nil { return false }
      entries[name] = .kept
      return true
    }
  }

  /// Gives back a name, if no actor has got it.
  func giveBack(_ name: String) {
    entries.withLockInPlace { if case .kept = $0[name] { $0[name] = nil } }
  }

  /// Gives a name to an actor, if it is kept for one.
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

  /// The actor of a name, if it is there and ready.
  func find(_ name: String) -> LocalActor? {
    entries.read { entries in
      if case .ready(let actor) = entries[name] { actor } else { nil }
    }
  }
}

/// An actor that others may call.
struct LocalActor: Sendable {
  /// The name of its type, as the compiler has it.
  let typeName: String
  let type: any DistributedActor.Type
  private let actor: WeakActor
  private let call:
    @Sendable (
      String, MessagingActorSystem.InvocationDecoder, MessagingActorSystem.ResultHandler
    ) async throws -> Void

  /// An actor that may be gone.
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

  /// The actor itself.
  var resolved: (any DistributedActor)? { actor.actor }

  /// Performs a method that was found to be one of the actor's, with its number of arguments.
  func perform(
    _ method: String, _ decoder: MessagingActorSystem.InvocationDecoder,
    _ handler: MessagingActorSystem.ResultHandler
  ) async {
    do { try await call(method, decoder, handler) } catch {
      // What the method throws goes to the handler: this is what the runtime says.
      decoder.outcome.refuse(.unknownMessage, "")
    }
  }
}
