// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingWire
import Invocations
import TypeEncodings

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

  /// The values of the answers, without the errors.
  public var values: [Value] { answers.compactMap { try? $0.result.get() } }
}

extension Remote where Proxy: Sendable {
  /// Sends a message to all hosts of the name, and returns their answers.
  ///
  /// ```
  /// let votes = try await room.gather { try await $0.vote(question) }
  /// votes.values  // [true, false, true]
  /// ```
  ///
  /// The closure sends one message; another one is refused as ``RemoteError/gathersOne(_:)``. It is
  /// no error that there is no listener, or that no host answers in time.
  ///
  /// - Parameters:
  ///   - count: The number of answers after which this returns. With fewer answers it returns at
  ///     the deadline.
  ///   - limit: The deadline; nil for the deadline of the proxy.
  ///   - send: Sends one message to the proxy that it receives.
  /// - Throws: ``RemoteError`` if the hosts could not be asked or their answers not received, even
  ///   if the closure catches it; errors that the closure throws before it sends the message.
  public nonisolated(nonsending) func gather<Value: Sendable>(
    expecting count: Int = .max, within limit: Duration? = nil,
    _ send: nonisolated(nonsending) (Proxy) async throws -> Value
  ) async throws -> Gathered<Value> {
    try await untyped.gather(expecting: count, within: limit) { all in
      try await send(Proxy(forwardingTo: all))
    }
  }
}

extension RemoteProxy {
  /// Sends a message to all hosts of the name, without a protocol, and returns their answers.
  ///
  /// ```
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
      // Later errors, such as that of the first answer, are part of the result.
      if !gathering.hasBegun { throw error }
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
    /// Why the hosts could not be asked, or their answers not received.
    var failure: RemoteError?
  }

  private let remote: RemoteProxy
  private let count: Int
  private let limit: Duration?
  private let state = Guarded(State())

  var hasBegun: Bool { state.read { $0.call != nil } }

  init(_ remote: RemoteProxy, _ count: Int, _ limit: Duration?) {
    (self.remote, self.count, self.limit) = (remote, count, limit)
    super.init()
  }

  override func responds(to selector: Selector) -> Bool { remote.responds(to: selector) }

  override func methodSignature(for selector: Selector) -> MethodSignature? {
    remote.methodSignature(for: selector)
  }

  override nonisolated(nonsending) func forwardAwaiting(_ invocation: Invocation) async throws {
    let bytes = try remote.interface.encodeSent(invocation, behind: RemoteRequest.head)
    let answers: [RemoteAnswer]
    do throws(RemoteError) {
      try begin(invocation)
      answers = try await ask(bytes)
    } catch {
      state.withLockInPlace { if $0.failure == nil { $0.failure = error } }
      throw error
    }
    state.withLockInPlace { $0.answers = answers }
    // The proxy returns the first answer to its caller.
    guard let first = answers.first(where: { $0.kind == .answered }) else {
      throw RemoteError.timedOut
    }
    try remote.interface.decodeResult(first.result(), into: invocation)
  }

  /// Makes a message the one of the gathering: answers to another one have other types.
  private func begin(_ invocation: Invocation) throws(RemoteError) {
    let copy = invocation.copy()
    let isFirst = state.withLockInPlace { state in
      defer { state.call = state.call ?? copy }
      return state.call == nil
    }
    if !isFirst { throw .gathersOne(invocation.selector ?? "") }
  }

  private nonisolated(nonsending) func ask(
    _ bytes: [UInt8]
  ) async throws(RemoteError) -> [RemoteAnswer] {
    do throws(RemoteError) {
      return try await remote.link.askAll(
        behindRoom: bytes, expecting: count, within: limit)
    } catch {
      // Without a listener, no host answers.
      if error == remote.link.subject.unheard { return [] }
      throw error
    }
  }

  /// The result. The failure is thrown even if the closure caught it.
  func gathered<Value: Sendable>() throws -> Gathered<Value> {
    let state = state.read { $0 }
    if let failure = state.failure { throw failure }
    guard let call = state.call else { return Gathered() }
    return Gathered(
      answers: state.answers.map {
        Gathered.Answer(host: $0.host, result: Self.value(of: $0, call, remote))
      })
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
