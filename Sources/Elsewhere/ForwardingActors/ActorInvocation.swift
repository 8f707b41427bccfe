// SPDX-License-Identifier: Apache-2.0
public import Distributed
import ForwardingRemote
import ForwardingWire
import Invocations

// The types that Swift's runtime uses for a call, on both sides. Only the code of a method knows
// its types, one argument at a time. So there is no signature for an invocation, and arguments are
// encoded directly as `Codable` values.
extension MessagingActorSystem {
  /// Encodes the arguments of a call to another node.
  public struct InvocationEncoder: DistributedTargetInvocationEncoder, Sendable {
    public typealias SerializationRequirement = any Codable

    private let limits: WireLimits
    private(set) var arguments: [[UInt8]] = []
    /// The type of the actor in a call through a protocol. Other generic types are refused.
    private(set) var caller: (any DistributedActor.Type)?

    init(_ limits: WireLimits) { self.limits = limits }

    /// Records the type of an actor that is called through a protocol.
    ///
    /// - Throws: ``ActorError/generic(type:)`` for any other type.
    public mutating func recordGenericSubstitution<T>(_ type: T.Type) throws {
      guard caller == nil, let actor = type as? any DistributedActor.Type else {
        throw ActorError.generic(type: "\(type)")
      }
      caller = actor
    }

    /// Encodes an argument.
    ///
    /// - Throws: ``ActorError/arguments(limit:)`` if there are too many; `RemoteError.wire` if the
    ///   value cannot be encoded within the limits.
    public mutating func recordArgument<Value: Codable>(
      _ argument: RemoteCallArgument<Value>
    ) throws {
      guard arguments.count < WireLimits.arguments else {
        throw ActorError.arguments(limit: WireLimits.arguments)
      }
      do throws(WireError) { arguments.append(try Self.json(argument.value, limits)) } catch {
        throw RemoteError.wire(error)
      }
    }

    /// Does nothing, as the other node knows the type.
    public mutating func recordReturnType<Value: Codable>(_ type: Value.Type) throws {}
    /// Does nothing.
    public mutating func recordErrorType<Failure: Error>(_ type: Failure.Type) throws {}
    /// Does nothing.
    public mutating func doneRecording() throws {}

    static func json<Value: Encodable>(
      _ value: Value, _ limits: WireLimits
    ) throws(WireError) -> [UInt8] {
      do {
        try ValueJSON.refuseTrapping(type(of: value))
        let bytes = try ValueJSON.text(of: value, limits, at: 0)
        guard bytes.count <= limits.text else {
          throw WireError(.limit(limits.text, given: bytes.count), at: 0)
        }
        return bytes
      } catch {
        throw MessagingActorSystem.wireError(error, Value.self)
      }
    }
  }

  /// Decodes the arguments of a call of another node, with the types of the method that it selects.
  public struct InvocationDecoder: DistributedTargetInvocationDecoder, Sendable {
    public typealias SerializationRequirement = any Codable

    let system: MessagingActorSystem
    var arguments: ArraySlice<[UInt8]>
    /// The type of the called actor if its method is that of a protocol. It is never a type that
    /// the caller names.
    let substitutions: [any DistributedActor.Type]
    let outcome: ActorOutcome
    let permission: ArgumentPermission?

    /// The type of the called actor for a method of a protocol; otherwise empty.
    public mutating func decodeGenericSubstitutions() throws -> [any Any.Type] { substitutions }

    /// Decodes the next argument.
    ///
    /// - Throws: `WireError` if there is no argument left, or its bytes are refused; errors of
    ///   decoding the value.
    public mutating func decodeNextArgument<Value: Codable>() throws -> Value {
      do {
        guard let json = arguments.popFirst() else {
          throw WireError(.tooShort(expected: 1, given: 0), at: 0)
        }
        guard let permission else { return try system.value(Value.self, of: json) }
        return try ArgumentPermission.$current.withValue(permission) {
          try system.value(Value.self, of: json)
        }
      } catch {
        if permission?.hasRefused ?? false {
          outcome.refuse(.unauthorized, "")
        } else {
          outcome.refuse(.malformed, MessagingActorSystem.wireError(error, Value.self).outwards)
        }
        throw error
      }
    }

    /// Nil, as the type of the target's error is not needed.
    public mutating func decodeErrorType() throws -> (any Any.Type)? { nil }
    /// Nil, as the method knows its result type.
    public mutating func decodeReturnType() throws -> (any Any.Type)? { nil }
  }

  /// Makes an answer from the method's result or error.
  public struct ResultHandler: DistributedTargetInvocationResultHandler, Sendable {
    public typealias SerializationRequirement = any Codable

    let limits: WireLimits
    let outcome: ActorOutcome

    /// Encodes the result.
    public func onReturn<Success: Codable>(value: Success) async throws {
      do throws(WireError) {
        outcome.answer(try InvocationEncoder.json(value, limits))
      } catch {
        outcome.refuse(.unsendableResult, error.outwards)
      }
    }

    /// Makes an answer without a result.
    public func onReturnVoid() async throws { outcome.answer([]) }

    /// Makes an answer from the error, which is sent only if it is a `RemoteFailure`.
    public func onThrow<Failure: Error>(error: Failure) async throws {
      if error is ExecuteDistributedTargetError { return outcome.refuse(.unknownMessage, "") }
      outcome.fail(error)
    }
  }

  static func wireError(_ error: any Error, _ type: Any.Type) -> WireError {
    error as? WireError
      ?? WireError(.value(type: "\(type)", ValueJSON.reason(error)), at: 0)
  }

  func value<Value: Decodable>(_ type: Value.Type, of json: [UInt8]) throws -> Value {
    try ValueJSON.refuseTrapping(type)
    return try ValueJSON.value(type, of: json, limits, at: 0, [.actorSystemKey: self])
  }
}

/// The outcome of a call. Only the first one that is set counts.
final class ActorOutcome: Sendable {
  private let host: UInt64
  private let first = Guarded<RemoteAnswer?>(nil)

  init(host: UInt64) { self.host = host }

  /// The answer to the call. If no outcome was set, it is a refusal.
  var known: RemoteAnswer { first.read { $0 } ?? .refused(.other, "", host: host) }

  func answer(_ result: [UInt8]) {
    set(RemoteAnswer(.answered, host: host, body: result[...]))
  }

  func fail(_ error: any Error) { set(.failed(error, host: host)) }

  func refuse(_ refusal: RemoteRefusal, _ text: String) {
    set(.refused(refusal, text, host: host))
  }

  private func set(_ answer: RemoteAnswer) {
    first.withLock { if $0 == nil { $0 = answer } }
  }
}
