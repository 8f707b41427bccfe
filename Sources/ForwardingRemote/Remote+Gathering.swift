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
  /// - Parameters:
  ///   - count: The number of answers after which this returns. With fewer answers it returns at
  ///     the deadline.
  ///   - limit: The deadline; nil for the deadline of the proxy.
  ///   - send: Sends one message to the proxy that it receives.
  /// - Returns: The answers, and the hosts that did not answer.
  /// - Throws: ``RemoteError`` if the hosts could not be asked or their answers not received, even
  ///   if the closure catches it; errors that the closure throws before the answers are gathered.
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
  // SAFETY: all mutable state is behind locks. The call is a copy that no sender has, and only
  // ``gathered()`` uses it, once.
  private let remote: RemoteProxy
  private let count: Int
  private let limit: Duration?
  private let answers = Guarded<[RemoteAnswer]>([])
  private let state = Guarded(State())

  private struct State {
    /// The message; nil before it is sent.
    var call: Invocation?
    /// Whether all answers that arrive in time have arrived.
    var isOver = false
    /// Why the hosts could not be asked, or their answers not received.
    var failure: RemoteError?
    /// Whether the result was made, so that no message is sent any more.
    var isClosed = false
  }

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
    try begin(invocation)
    try await ask(bytes)
    state.withLockInPlace { $0.isOver = true }
    // The face returns the first answer to its caller.
    guard let first = answers.read({ $0.first { $0.kind == .answered } }) else {
      throw RemoteError.timedOut
    }
    try remote.interface.decodeResult(first.result(), into: invocation)
  }

  /// Makes a message the one of the gathering.
  ///
  /// - Throws: ``RemoteError/gathersOne(_:)`` if there is one, whose answers have other types.
  private func begin(_ invocation: Invocation) throws {
    guard let selector = invocation.selector else { throw InvocationError.selectorNotSet }
    let copy = invocation.copy()
    let isFirst = state.withLockInPlace { state in
      let isFirst = state.call == nil && !state.isClosed
      if isFirst { state.call = copy }
      return isFirst
    }
    if !isFirst { throw fail(.gathersOne(selector)) }
  }

  /// Keeps the first failure.
  private func fail(_ error: RemoteError) -> RemoteError {
    state.withLockInPlace { if $0.failure == nil { $0.failure = error } }
    return error
  }

  private nonisolated(nonsending) func ask(_ bytes: [UInt8]) async throws(RemoteError) {
    let count = count
    do throws(RemoteError) {
      try await remote.link.askAll(.asked, behindRoom: bytes, within: limit) { [answers] answer in
        answers.withLockInPlace {
          if $0.count < count { $0.append(answer) }
          return $0.count >= count
        }
      }
    } catch {
      // There is no listener, so all hosts are silent.
      if error == RemoteError(.nobodyListens) { return }
      throw fail(error)
    }
  }

  /// The result. The failure is thrown even if the closure caught it.
  func gathered<Value: Sendable>() throws -> Gathered<Value> {
    let (call, failure) = state.withLockInPlace { state in
      state.isClosed = true
      return (state.call.take(), state.failure)
    }
    if let failure { throw failure }
    var all = Gathered<Value>()
    all.silent = remote.link.hosts
    guard let call else { return all }
    for answer in answers.read({ $0 }) {
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
