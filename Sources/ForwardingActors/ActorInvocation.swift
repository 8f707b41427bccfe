public import Distributed
import ForwardingRemote
import ForwardingWire
import Invocations

// What Swift hands over of a call, on both sides. A method's types are known to its own code alone, one argument at a
// time: there is no signature that an invocation could be made of, so arguments go through the coder of Codable places
// directly.
extension MessagingActorSystem {
  /// The arguments of a call that is on its way out.
  public struct InvocationEncoder: DistributedTargetInvocationEncoder, Sendable {
    public typealias SerializationRequirement = any Codable

    private let limits: WireLimits
    private(set) var arguments: [[UInt8]] = []
    /// The actor that calls through a protocol; nothing else that is generic may cross.
    private(set) var caller: (any DistributedActor.Type)?

    init(_ limits: WireLimits) { self.limits = limits }

    /// Refuses a generic call.
    public mutating func recordGenericSubstitution<T>(_ type: T.Type) throws {
      guard caller == nil, let actor = type as? any DistributedActor.Type else {
        throw ActorError.generic(type: "\(type)")
      }
      caller = actor
    }

    /// Writes an argument.
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

    /// Nothing: the other side knows its types.
    public mutating func recordReturnType<Value: Codable>(_ type: Value.Type) throws {}
    /// Nothing.
    public mutating func recordErrorType<Failure: Error>(_ type: Failure.Type) throws {}
    /// Nothing.
    public mutating func doneRecording() throws {}

    static func json<Value: Encodable>(
      _ value: Value, _ limits: WireLimits
    ) throws(WireError) -> [UInt8] {
      do {
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

  /// The arguments of a call that came, read with the types of the method that it selects.
  public struct InvocationDecoder: DistributedTargetInvocationDecoder, Sendable {
    public typealias SerializationRequirement = any Codable

    let system: MessagingActorSystem
    var arguments: ArraySlice<[UInt8]>
    /// The type of the actor that is called, where its method is one of a protocol; never a type from outside.
    let substitutions: [any DistributedActor.Type]
    let outcome: ActorOutcome
    let permission: ArgumentPermission?

    /// The type of the actor that is called, for a method of a protocol; none for any other.
    public mutating func decodeGenericSubstitutions() throws -> [any Any.Type] { substitutions }

    /// Reads the next argument.
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

    /// None: what the target throws is known by itself.
    public mutating func decodeErrorType() throws -> (any Any.Type)? { nil }
    /// None: the method knows what it returns.
    public mutating func decodeReturnType() throws -> (any Any.Type)? { nil }
  }

  /// Makes the answer of what a method returns or throws.
  public struct ResultHandler: DistributedTargetInvocationResultHandler, Sendable {
    public typealias SerializationRequirement = any Codable

    let limits: WireLimits
    let outcome: ActorOutcome

    /// Writes the result.
    public func onReturn<Success: Codable>(value: Success) async throws {
      do throws(WireError) {
        outcome.answer(try InvocationEncoder.json(value, limits))
      } catch {
        outcome.refuse(.unsendableResult, error.outwards)
      }
    }

    /// An answer without a result.
    public func onReturnVoid() async throws { outcome.answer([]) }

    /// Writes the error, as far as it may cross.
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
    try ValueJSON.value(type, of: json, limits, at: 0, [.actorSystemKey: self])
  }
}

/// What becomes of a call here; the first that is said counts.
final class ActorOutcome: Sendable {
  private let host: UInt64
  private let first = Guarded<RemoteAnswer?>(nil)

  init(host: UInt64) { self.host = host }

  /// The answer, which there is for every call.
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
