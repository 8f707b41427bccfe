// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingWire
import Invocations

/// The answers of all hosts of a name.
///
/// ```swift
/// func count(_ votes: Gathered<Bool>) -> Int {
///   votes.values.count { $0 }
/// }
/// ```
public struct Gathered<Value: Sendable>: Sendable {
  /// The answer of one host.
  public struct Answer: Sendable {
    /// The random number that identifies the host.
    public let host: UInt64
    /// The value that the host answered, or the error instead of it.
    public let result: Result<Value, RemoteError>
  }

  /// The answers that arrived in time, in the order of arrival.
  public internal(set) var answers: [Answer] = []
  /// The hosts that answered an earlier request, but not this one.
  public internal(set) var silent: Set<UInt64> = []

  /// The values of the answers, without the errors.
  public var values: [Value] { answers.compactMap { try? $0.result.get() } }
}

extension Remote where Face: Sendable {
  /// Sends a message to all hosts of the name, and returns their answers and the silent hosts.
  ///
  /// ```
  /// let votes = try await room.gather { try await $0.vote(question) }
  /// votes.values  // [true, false, true]
  /// ```
  ///
  /// The closure sends one message; another one is refused as ``RemoteError/gathersOne(_:)``. If
  /// there is no listener, or no host answers in time, all hosts
  /// are silent; that is not an error.
  ///
  /// - Parameters:
  ///   - count: The number of answers after which this returns. With fewer answers it returns at
  ///     the deadline.
  ///   - limit: The deadline; nil for the deadline of the proxy.
  ///   - send: Sends one message to the face that it receives.
  /// - Returns: The answers, and the hosts that did not answer.
  /// - Throws: ``RemoteError`` if the hosts could not be asked or their answers not received, even
  ///   if the closure catches it; errors that the closure throws before the answers are gathered.
  public nonisolated(nonsending) func gather<Value: Sendable>(
    expecting count: Int = .max, within limit: Duration? = nil,
    _ send: nonisolated(nonsending) (Face) async throws -> Value
  ) async throws -> Gathered<Value> {
    try await proxy.gather(expecting: count, within: limit) { all in
      try await send(Face(forwardingTo: all))
    }
  }
}

extension RemoteProxy {
  /// Sends a message to all hosts of the name, without a protocol, and returns their answers and
  /// the silent hosts.
  ///
  /// ```swift
  /// let deposit = try AsyncMessage<Int32, Int32>("deposit:")
  /// var bank = Interface("bank")
  /// try bank.allow(deposit)
  /// let transport = InProcessTransport()
  /// let host = RemoteHost(transport, as: "bank-1")
  /// try host.expose(account, bank)
  ///
  /// let remote = RemoteProxy(bank, transport, at: "bank-1")
  /// let sums = try await remote.gather(expecting: 1) { try await deposit(50, on: $0) }
  /// sums.values  // [150]
  /// ```
  ///
  /// See ``Remote/gather(expecting:within:_:)`` for the parameters, the result, and the errors.
  public nonisolated(nonsending) final func gather<Value: Sendable>(
    expecting count: Int = .max, within limit: Duration? = nil,
    _ send: nonisolated(nonsending) (any ForwardingProxy & Sendable) async throws -> Value
  ) async throws -> Gathered<Value> {
    let gathering = GatheringProxy(self, count, limit)
    do { _ = try await send(gathering) } catch {
      // Errors after gathering, such as that of the first answer, are part of the result.
      if !gathering.isOver { throw error }
    }
    return try gathering.gathered()
  }
}

/// Sends one message to all hosts of a name, and collects their answers.
private final class GatheringProxy: ForwardingProxy, SharedProxy, @unchecked Sendable {
  // SAFETY: all mutable state is behind a lock. The call is a copy that no sender has, and only
  // ``gathered()`` uses it, once.
  private struct State {
    /// The message; nil before it is sent.
    var call: Invocation?
    var answers: [RemoteAnswer] = []
    /// Whether all answers that arrive in time have arrived.
    var isOver = false
    /// Why the hosts could not be asked, or their answers not received.
    var failure: RemoteError?
    /// Whether the result was made, so that no message is sent any more.
    var isClosed = false
  }

  private let remote: RemoteProxy
  private let count: Int
  private let limit: Duration?
  private let state = Guarded(State())

  /// Whether all answers that arrive in time have arrived.
  var isOver: Bool { state.read { $0.isOver } }

  init(_ remote: RemoteProxy, _ count: Int, _ limit: Duration?) {
    self.remote = remote
    self.count = count
    self.limit = limit
    super.init()
  }

  override func responds(to selector: Selector) -> Bool { remote.responds(to: selector) }

  override func methodSignature(for selector: Selector) -> MethodSignature? {
    remote.methodSignature(for: selector)
  }

  override nonisolated(nonsending) func forwardAwaiting(_ invocation: Invocation) async throws {
    let bytes = try remote.interface.encodeSent(invocation, behind: RemoteRequest.head)
    do throws(RemoteError) {
      try begin(invocation)
      try await ask(bytes)
    } catch {
      state.withLockInPlace { if $0.failure == nil { $0.failure = error } }
      throw error
    }
    // The face returns the first answer to its caller.
    let first = state.withLockInPlace { state in
      state.isOver = true
      return state.answers.first { $0.kind == .answered }
    }
    guard let first else { throw RemoteError.timedOut }
    try remote.interface.decodeResult(first.result(), into: invocation)
  }

  /// Makes a message the one of the gathering: answers to another one have other types.
  private func begin(_ invocation: Invocation) throws(RemoteError) {
    let copy = invocation.copy()
    let isFirst = state.withLockInPlace { state in
      let isFirst = state.call == nil && !state.isClosed
      if isFirst { state.call = copy }
      return isFirst
    }
    if !isFirst { throw .gathersOne(invocation.selector ?? "") }
  }

  private nonisolated(nonsending) func ask(_ bytes: [UInt8]) async throws(RemoteError) {
    do throws(RemoteError) {
      try await remote.link.askAll(.asked, behindRoom: bytes, within: limit) {
        [state, count] answer in
        state.withLockInPlace {
          if $0.answers.count < count { $0.answers.append(answer) }
          return $0.answers.count >= count
        }
      }
    } catch {
      // Without a listener, all hosts are silent.
      if error != remote.link.subject.unheard { throw error }
    }
  }

  /// The result. The failure is thrown even if the closure caught it.
  func gathered<Value: Sendable>() throws -> Gathered<Value> {
    let (call, answers, failure) = state.withLockInPlace { state in
      state.isClosed = true
      return (state.call.take(), state.answers, state.failure)
    }
    if let failure { throw failure }
    var all = Gathered<Value>()
    all.silent = remote.link.hosts
    guard let call else { return all }
    for answer in answers {
      all.silent.remove(answer.host)
      all.answers.append(
        Gathered.Answer(host: answer.host, result: Self.value(of: answer, call, remote)))
    }
    return all
  }

  private static func value<Value>(
    of answer: RemoteAnswer, _ call: Invocation, _ remote: RemoteProxy
  ) -> Result<Value, RemoteError> {
    do {
      let copy = call.copy()
      try remote.interface.decodeResult(answer.result(), into: copy)
      return .success(try copy.result(as: Value.self))
    } catch RemoteError.refused(.expired, _) {
      // The host noticed the end of the time before this process did.
      return .failure(.timedOut)
    } catch let error as RemoteError {
      return .failure(remote.named(error, call))
    } catch let error as WireError {
      return .failure(.wire(error))
    } catch {
      return .failure(.refused(.other, "\(error)"))
    }
  }
}
