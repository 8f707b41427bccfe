// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import ForwardingWire
import Invocations
import Synchronization
import Testing

/// What a transport does with one attempt to send a call, and what the call ends as: the rule of
/// "When a connection breaks" in Documentation/Remote.md.
private enum Step: CaseIterable {
  case noConnection
  case nobody, congested, closed, interrupted, performedThenInterrupted
  case dropped, answerDropped, answeredLate, answered, answeredTwice, answeredThenInterrupted

  /// The outcome; nil if the call was not sent, and is tried again.
  var outcome: String? {
    switch self {
    case .noConnection: nil
    case .nobody: "\(RemoteSubject("forwarding.bank.bank").name)"
    case .congested: "\(RemoteError.notCarried(.congested))"
    case .closed: "\(RemoteError.closed)"
    case .interrupted, .performedThenInterrupted: "\(RemoteError.interrupted)"
    case .dropped, .answerDropped, .answeredLate: "\(RemoteError.timedOut)"
    case .answered, .answeredTwice, .answeredThenInterrupted: "answered"
    }
  }

  var isPerformed: Bool {
    switch self {
    case .noConnection, .nobody, .congested, .closed, .interrupted, .dropped: false
    case .performedThenInterrupted, .answerDropped, .answeredLate, .answered, .answeredTwice,
      .answeredThenInterrupted:
      true
    }
  }
}

/// A transport in this process that does one step for each request.
private final class SteppedTransport: Transport {
  let inner = InProcessTransport()
  let maximumPayload = 1 << 20
  private let steps: Guarded<[Step]>
  /// Requests that were made, and that have ended.
  let requests = Atomic(0)
  let ended = Atomic(0)
  /// The milliseconds left in each request: rounded up by less than a thousandth.
  let left = Guarded<[Int]>([])

  init(_ steps: [Step]) { self.steps = Guarded(steps) }

  private final class Request: TransportSubscription {
    let transport: SteppedTransport
    init(_ transport: SteppedTransport) { self.transport = transport }
    func end() { transport.ended.add(1, ordering: .relaxed) }
  }

  func request(
    _ payload: [UInt8], to subject: RemoteSubject,
    _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
  ) throws(TransportError) -> any TransportSubscription {
    // Attempts beyond the script find no connection.
    let step = steps.withLockInPlace { $0.isEmpty ? .noConnection : $0.removeFirst() }
    let time = Int(payload[2]) | Int(payload[3]) << 8
    left.withLock { $0.append((time & 0x7FF) << (time >> 11)) }
    func perform(_ count: Int, after pause: Duration = .zero) throws(TransportError) {
      let request = try inner.request(payload, to: subject) { result in
        guard count > 0 else { return }
        Task {
          try? await Task.sleep(for: pause)
          for _ in 0..<count { answered(result) }
        }
      }
      request.end()
    }
    switch step {
    case .noConnection: throw .interrupted
    case .congested: throw .congested
    case .closed: throw .closed
    case .nobody: answered(.failure(.nobodyListens))
    case .interrupted: answered(.failure(.interrupted))
    case .dropped: break
    case .answerDropped: try perform(0)
    case .answeredLate: try perform(1, after: .milliseconds(400))
    case .answered: try perform(1)
    case .answeredTwice: try perform(2)
    case .performedThenInterrupted:
      try perform(0)
      answered(.failure(.interrupted))
    case .answeredThenInterrupted:
      let request = try inner.request(payload, to: subject, answered)
      request.end()
      answered(.failure(.interrupted))
    }
    requests.add(1, ordering: .relaxed)
    return Request(self)
  }

  func publish(_ payload: [UInt8], to subject: RemoteSubject) throws(TransportError) {
    try inner.publish(payload, to: subject)
  }

  func subscribe(
    to subject: RemoteSubject, group: String?,
    _ receive: @escaping @Sendable (TransportMessage) -> Void
  ) throws(TransportError) -> any TransportSubscription {
    try inner.subscribe(to: subject, group: group, receive)
  }

  func flush(within limit: Duration) async throws(TransportError) {}

  func onChange(_ changed: @escaping @Sendable (TransportState) -> Void)
    -> any TransportSubscription
  { inner.onChange(changed) }

  func close() { inner.close() }
}

@Suite("Calls over a transport that does anything", .timeLimit(.minutes(60)))
struct CallModelTests {
  /// Makes one call over such a transport.
  private func call(
    _ steps: [Step], within deadline: Duration
  ) async throws -> (outcome: String, performed: Int, RemoteStatistics, SteppedTransport) {
    let transport = SteppedTransport(steps)
    let host = RemoteHost(transport.inner, as: "bank")
    let vault = Vault()
    try host.expose(vault, Vault.interface())
    defer { host.close() }
    let remote = RemoteProxy(try Vault.interface(), transport, at: "bank", deadline: deadline)
    remote.inFlightLimit = 1
    var outcome = "answered"
    do { #expect(try await Vault.deposit(1, on: remote) == 1) } catch { outcome = "\(error)" }
    // Answers that come later have no effect.
    if steps.contains(.answeredLate) { try await Task.sleep(for: .milliseconds(300)) }
    let counts = remote.statistics
    // Its place is free again.
    await #expect(throws: RemoteError.timedOut) {
      remote.deadline = .zero
      try await Vault.deposit(1, on: remote)
    }
    return (outcome, Int(vault.balance), counts, transport)
  }

  @Test("each call ends once as the rule says, and is performed at most once")
  func rule() async throws {
    var random = SystemRandomNumberGenerator()
    var scripts = Step.allCases.map { [$0] }
    let ends = Step.allCases.filter { $0.outcome != nil }
    for end in ends { scripts.append([.noConnection, .noConnection, end, .answered]) }
    for _ in 0..<40 {
      let waits = Array(repeating: Step.noConnection, count: .random(in: 0..<4, using: &random))
      scripts.append(waits + [ends.randomElement(using: &random) ?? .answered])
    }
    for script in scripts {
      let end = script.first { $0.outcome != nil }
      let isInTime = end.map { $0.outcome != "\(RemoteError.timedOut)" } ?? false
      let (outcome, performed, counts, transport) = try await call(
        script, within: isInTime ? .seconds(3000) : .milliseconds(200))
      let expected = end?.outcome ?? "\(RemoteError.timedOut)"
      let isExpected =
        end == .nobody ? outcome.contains("no host listens to bank.bank") : outcome == expected
      #expect(isExpected, "\(script): \(outcome)")
      // On a busy machine, the time may be over before the attempt.
      let isReached = transport.left.read { $0.count } > script.count { $0.outcome == nil }
      #expect(performed == (end?.isPerformed == true && isReached ? 1 : 0), "\(script)")
      let isAnswered = expected == "answered"
      #expect(
        counts
          == RemoteStatistics(asked: 1, answered: isAnswered ? 1 : 0, failed: isAnswered ? 0 : 1),
        "\(script): \(counts)")
      let (made, ended) = (
        transport.requests.load(ordering: .relaxed), transport.ended.load(ordering: .relaxed)
      )
      #expect(made == ended, "\(script): requests are left")
    }
  }

  @Test("a call that is tried again contains the time that is left then")
  func timeLeft() async throws {
    let waits = Array(repeating: Step.noConnection, count: 8)
    let (outcome, performed, _, transport) = try await call(
      waits + [.answered], within: .seconds(1000))
    #expect(outcome == "answered" && performed == 1)
    let left = transport.left.read { $0 }.prefix(9)
    #expect(left.first.map { $0 <= 1_000_448 } == true)
    // The pauses before the ninth attempt take more than half a second, which is one unit then.
    #expect(left.last.map { $0 <= 999_936 } == true, "\(left)")
  }

  @Test("a call that is cancelled before it is sent again is not sent")
  func cancelled() async throws {
    let transport = SteppedTransport([])
    let remote = RemoteProxy(
      try Vault.interface(), transport, at: "bank", deadline: .seconds(3000))
    let call = Task { try await Vault.deposit(1, on: remote) }
    while transport.left.read({ $0.isEmpty }) { await Task.yield() }
    call.cancel()
    await #expect(throws: RemoteError.cancelled) { try await call.value }
    #expect(remote.statistics == RemoteStatistics(asked: 1, failed: 1))
  }
}
