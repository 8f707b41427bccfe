// SPDX-License-Identifier: Apache-2.0
public import Distributed
public import ForwardingRemote

/// Why an actor system refuses an operation before anything is sent.
///
/// Calls that were sent fail with `RemoteError`, which also conforms to
/// `DistributedActorSystemError`.
///
/// ```swift
/// ActorError.nameTaken("greeter")  // an actor has the name 'greeter'
/// ```
@nonexhaustive
public enum ActorError: DistributedActorSystemError, Hashable {
  /// The ID belongs to this node, which does not have the actor, or no longer has it.
  case noActor(MessagingActorSystem.ActorID)
  /// The actor has another type.
  case otherType(MessagingActorSystem.ActorID)
  /// An actor of this node already has the name.
  case nameTaken(String)
  /// The closure made no actor that could get the name.
  case notMade(String)
  /// A name is empty, or longer than ``MessagingActorSystem/ActorID/limit``.
  case badName(String)
  /// The method or its actor is generic. Types are not sent.
  case generic(type: String)
  /// The method has more arguments than the limit.
  case arguments(limit: Int)
}

extension ActorError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noActor(let id): "this node has no actor '\(id.name)'"
    case .otherType(let id): "'\(id.name)' has another type"
    case .nameTaken(let name): "an actor has the name '\(name)'"
    case .notMade(let name): "no actor was made that could be '\(name)'"
    case .badName(let name): "'\(name.prefix(40))' cannot be a name"
    case .generic(let type): "types do not cross, and the call is generic, with \(type)"
    case .arguments(let limit): "\(limit) arguments are the limit"
    }
  }
}

extension RemoteError: DistributedActorSystemError {}
