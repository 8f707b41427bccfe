import Forwarding
import ForwardingWire
import Invocations

/// What all hosts of a name answered.
///
/// ```swift
/// func count(_ votes: Gathered<Bool>) -> Int {
///   votes.values.count { $0 }
/// }
/// ```
public struct Gathered<Value: Sendable>: Sendable {
  /// One host's part.
  public struct Answer: Sendable {
    /// The host, by the number that it has drawn.
    public let host: UInt64
    /// What it answered, or why it did not.
    public let result: Result<Value, RemoteError>
  }

  /// Who answered in time, in the order of arrival.
  public internal(set) var answers: [Answer] = []
  /// Hosts that had answered before, and did not this time.
  public internal(set) var silent: Set<UInt64> = []

  /// The answers alone.
  public var values: [Value] { answers.compactMap { try? $0.result.get() } }
}

extension Remote where Face: Sendable {
  /// Asks all hosts of the name, and returns who answered in time, and who did not.
  ///
  /// ```
  /// let votes = try await room.gather { try await $0.vote(question) }
  /// votes.values  // [true, false, true]
  /// ```
  ///
  /// The closure sends one message, whose answers these are. That nobody listens, or answers in time, is no error: all
  /// are silent then. Every other reason why hosts could not be asked, or heard, is thrown.
  ///
  /// - Parameters:
  ///   - count: after how many answers to stop; all of the deadline is waited if there are less.
  ///   - limit: the deadline; that of the proxy unless given.
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
  /// Asks all hosts of the name, and returns who answered in time, and who did not: by a message, without a protocol.
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
  ///   - count: after how many answers to stop; all of the deadline is waited if there are less.
  ///   - limit: the deadline; that of the proxy unless given.
  ///   - send: sends one message to what it is given.
  public nonisolated(nonsending) final func gather<Value: Sendable>(
    expecting count: Int = .max, within limit: Duration? = nil,
    _ send: nonisolated(nonsending) (any ForwardingProxy & Sendable) async throws -> Value
  ) async throws -> Gathered<Value> {
    let gathering = GatheringProxy(self, count, limit)
    do { _ = try await send(gathering) } catch {
      // What the first one answered, or that nobody did, is in the report.
      if !gathering.isOver { throw error }
    }
    // Whatever the closure has made of it.
    if let failure = gathering.failure { throw failure }
    return gathering.gathered()
  }
}

/// Sends one message to all hosts of a name.
private final class GatheringProxy: ForwardingProxy, @unchecked Sendable {
  // SAFETY: what changes is behind locks, but for the call, which one task has in its hands.
  private let remote: RemoteProxy
  private let count: Int
  private let limit: Duration?
  private let answers = Guarded<[RemoteAnswer]>([])
  private var call: Invocation?
  /// Whether all that answers in time has done so.
  private(set) var isOver = false
  /// Why hosts could not be asked, or heard.
  private(set) var failure: RemoteError?

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
    call = invocation.copy()
    let bytes = try remote.interface.encode(invocation)
    try await ask(bytes)
    isOver = true
    // The face gives its caller the first answer.
    guard let first = answers.read({ $0.first { $0.kind == .answered } }) else {
      throw RemoteError.timedOut
    }
    try remote.interface.decodeResult(first.result(), into: invocation)
  }

  private nonisolated(nonsending) func ask(_ bytes: [UInt8]) async throws(RemoteError) {
    let count = count
    do throws(RemoteError) {
      try await remote.link.askAll(.asked, bytes, within: limit) { [answers] answer in
        answers.withLockInPlace {
          if $0.count < count { $0.append(answer) }
          return $0.count >= count
        }
      }
    } catch {
      // Nobody listens: all are silent.
      if error == RemoteError(.nobodyListens) { return }
      failure = error
      throw error
    }
  }

  func gathered<Value: Sendable>() -> Gathered<Value> {
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
      let place = TypedPlace(ofAny: Value.self, isResult: true)
      return .success(try copy.call.answer(as: Value.self, place))
    } catch RemoteError.refused(.expired, _) {
      // The host was first to see that the time was over.
      return .failure(.timedOut)
    } catch let error as RemoteError {
      return .failure(error)
    } catch let error as WireError {
      return .failure(.wire(error))
    } catch {
      return .failure(.refused(.other, "\(error)"))
    }
  }
}
