// SPDX-License-Identifier: Apache-2.0
public import Distributed
import ForwardingRemote
import ForwardingWire
import Invocations

extension MessagingActorSystem {
  // MARK: To other nodes

  public func makeInvocationEncoder() -> InvocationEncoder { InvocationEncoder(limits) }

  public func remoteCall<Act: DistributedActor, Failure: Error, Success: Codable>(
    on actor: Act, target: RemoteCallTarget, invocation: inout InvocationEncoder,
    throwing: Failure.Type, returning: Success.Type
  ) async throws -> Success where Act.ID == ActorID {
    let result = try await ask(actor, target, invocation)
    do { return try value(Success.self, of: result) } catch {
      throw RemoteError.wire(Self.wireError(error, Success.self))
    }
  }

  public func remoteCallVoid<Act: DistributedActor, Failure: Error>(
    on actor: Act, target: RemoteCallTarget, invocation: inout InvocationEncoder,
    throwing: Failure.Type
  ) async throws where Act.ID == ActorID {
    let result = try await ask(actor, target, invocation)
    guard result.isEmpty else {
      throw RemoteError.wire(WireError(.tooLong(expected: 0, given: result.count), at: 0))
    }
  }

  private func ask<Act: DistributedActor>(
    _ actor: Act, _ target: RemoteCallTarget, _ invocation: InvocationEncoder
  ) async throws -> [UInt8] where Act.ID == ActorID {
    if let caller = invocation.caller, caller != Act.self {
      throw ActorError.generic(type: "\(caller)")
    }
    let id = actor.id
    let call = ActorCall(
      actor: id.name, method: target.identifier, arguments: invocation.arguments)
    let bytes: [UInt8]
    do throws(WireError) { bytes = try call.bytes(limits) } catch { throw RemoteError.wire(error) }
    return try await link.ask(bytes, of: Self.subject(of: id.node))
  }

  // MARK: From other nodes

  /// Finds the actor and the method of a received call. All names are only looked up in this
  /// process.
  ///
  /// - Throws: `RefusedCall` with the reason of the refusal.
  func read(_ bytes: [UInt8], _ message: TransportMessage) throws(RefusedCall) -> ReadyCall {
    if isClosed { throw RefusedCall(.draining) }
    let call: ActorCall
    do throws(WireError) { call = try ActorCall(bytes, limits) } catch {
      if case .version = error.reason { throw RefusedCall(.version, error.outwards) }
      throw RefusedCall(.malformed, error.outwards)
    }
    let settings = settings.read { $0 }
    let isKnown = AccessibleFunctions.contains(call.method)
    var permission: ArgumentPermission?
    if let authorize = settings.authorize {
      // The name of a method that this process does not have is not passed on: describing it would
      // parse it.
      let method = isKnown ? call.method : ""
      let caller = Caller(
        peer: message.sender, node: node, actor: call.actor, isArgument: false, method: method)
      guard authorize(caller) else { throw RefusedCall(.unauthorized) }
      permission = ArgumentPermission(caller, authorize)
    }
    guard let actor = actors.find(call.actor) else { throw RefusedCall(.targetGone) }
    let isOwn = MethodName.isMethod(call.method, of: actor.typeName)
    guard isOwn || settings.stubs.contains(where: { MethodName.isMethod(call.method, of: $0) }),
      isKnown,
      // A method of the stub itself would be performed with the memory of another type.
      isOwn || AccessibleFunctions.isOfProtocol(call.method)
    else { throw RefusedCall(.unknownMessage) }
    let count = Int(_getParameterCount(mangledMethodName: call.method))
    guard call.arguments.count == count else {
      throw RefusedCall(
        .signatureMismatch, "\(count) arguments are expected, but \(call.arguments.count) are given"
      )
    }
    return ReadyCall(
      actor: actor, method: call.method, arguments: call.arguments[...],
      substitutions: isOwn ? [] : [actor.type], permission: permission)
  }

  /// Performs a call, and returns its task.
  func perform(
    _ call: ReadyCall, _ done: @escaping @Sendable (RemoteAnswer) -> Void
  ) -> Task<Void, Never> {
    let outcome = ActorOutcome(host: gate.number)
    let decoder = InvocationDecoder(
      system: self, arguments: call.arguments, substitutions: call.substitutions, outcome: outcome,
      permission: call.permission)
    let handler = ResultHandler(limits: limits, outcome: outcome)
    // Detached, as the method must not see task-local values of a caller in this process.
    return Task.detached {
      await call.actor.perform(call.method, decoder, handler)
      done(outcome.known)
    }
  }
}

/// A received call whose actor and method have been found.
struct ReadyCall: Sendable {
  let actor: LocalActor
  let method: String
  let arguments: ArraySlice<[UInt8]>
  let substitutions: [any DistributedActor.Type]
  let permission: ArgumentPermission?
}

/// Asks whether a call may have actors of this node as arguments, while its arguments are decoded.
final class ArgumentPermission: Sendable {
  /// The permission for the call whose arguments are being decoded.
  @TaskLocal static var current: ArgumentPermission?

  private let caller: MessagingActorSystem.Caller
  private let authorize: @Sendable (MessagingActorSystem.Caller) -> Bool
  private let refused = Guarded(false)

  init(
    _ caller: MessagingActorSystem.Caller,
    _ authorize: @escaping @Sendable (MessagingActorSystem.Caller) -> Bool
  ) {
    self.caller = caller
    self.authorize = authorize
  }

  /// Whether an actor was refused as an argument.
  var hasRefused: Bool { refused.read { $0 } }

  /// Whether the actor of a name may be an argument. It does not matter whether the actor exists.
  func allows(_ actor: String) -> Bool {
    let isAllowed = authorize(
      MessagingActorSystem.Caller(
        peer: caller.peer, node: caller.node, actor: actor, isArgument: true,
        method: caller.method))
    if !isAllowed { refused.withLock { $0 = true } }
    return isAllowed
  }
}
