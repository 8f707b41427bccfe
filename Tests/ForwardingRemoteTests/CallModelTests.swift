// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingRemote
import Invocations
import RemoteTestSupport
import Testing

import Glibc

/// What a transport does with one attempt to send a call, and what the call ends as: the rule of
/// "When a connection breaks" in Documentation/Remote.md.
private enum Step: CaseIterable {
  case noConnection
  case nobody, congested, closed, interrupted, performedThenInterrupted, performedThenClosed
  case cancelled, cancelledUnsent, performedThenCancelled
  case dropped, answerDropped, answeredLate, answeredLateAtOnce
  case answered, answeredAfterPause, answeredTwice, answeredThenInterrupted

  /// The outcome; nil if the call was not sent, and is tried again.
  var outcome: String? {
    switch self {
    case .noConnection: nil
    case .nobody: "\(RemoteError.unreachable("no host listens to bank.bank"))"
    case .congested: "\(RemoteError.notCarried(.congested))"
    case .closed, .performedThenClosed: "\(RemoteError.closed)"
    case .interrupted, .performedThenInterrupted: "\(RemoteError.interrupted)"
    case .cancelled, .cancelledUnsent, .performedThenCancelled: "\(RemoteError.cancelled)"
    case .dropped, .answerDropped, .answeredLate, .answeredLateAtOnce: "\(RemoteError.timedOut)"
    case .answered, .answeredAfterPause, .answeredTwice, .answeredThenInterrupted: "answered"
    }
  }

  var isPerformed: Bool {
    switch self {
    case .noConnection, .nobody, .congested, .closed, .interrupted, .dropped, .cancelled,
      .cancelledUnsent:
      false
    default: true
    }
  }
}

/// A transport in this process that does one step for each request, and names the peer of each
/// message.
final class StagedTransport: Transport {
  let inner = InProcessTransport()
  let maximumPayload = 1 << 20
  private let steps: Guarded<[Step]>
  let peer = Guarded(TransportPeer.thisProcess)
  /// Requests that were made and have not ended.
  let open = Guarded(0)
  /// The cancels that were sent.
  let cancels = Guarded(0)
  /// The milliseconds left in each request: rounded up by less than a thousandth.
  let left = Guarded<[Int]>([])

  fileprivate init(_ steps: [Step]) { self.steps = Guarded(steps) }
  convenience init() { self.init([]) }

  private final class Request: TransportSubscription {
    private let open: Guarded<Int>
    init(_ open: Guarded<Int>) {
      self.open = open
      open.withLock { $0 += 1 }
    }
    func end() { open.withLock { $0 -= 1 } }
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
    func cancelCaller() { withUnsafeCurrentTask { $0?.cancel() } }
    switch step {
    case .noConnection: throw .interrupted
    case .congested: throw .congested
    case .closed: throw .closed
    case .nobody: answered(.failure(.nobodyListens))
    case .interrupted: answered(.failure(.interrupted))
    case .performedThenInterrupted:
      try perform(0)
      answered(.failure(.interrupted))
    case .performedThenClosed:
      try perform(0)
      answered(.failure(.closed))
    case .cancelledUnsent:
      cancelCaller()
      throw .interrupted
    case .performedThenCancelled:
      try perform(0)
      cancelCaller()
    // The test cancels it once it waits.
    case .dropped, .cancelled: break
    case .answerDropped: try perform(0)
    case .answeredLate: try perform(1, after: .milliseconds(400))
    case .answeredLateAtOnce:
      try inner.request(payload, to: subject) { result in
        usleep(250_000)
        answered(result)
      }.end()
    case .answered: try perform(1)
    case .answeredAfterPause: try perform(1, after: .milliseconds(20))
    case .answeredTwice: try perform(2)
    case .answeredThenInterrupted:
      try inner.request(payload, to: subject, answered).end()
      answered(.failure(.interrupted))
    }
    return Request(open)
  }

  func publish(_ payload: [UInt8], to subject: RemoteSubject) throws(TransportError) {
    if payload[1] == Envelope.cancel { cancels.withLock { $0 += 1 } }
    try inner.publish(payload, to: subject)
  }

  func subscribe(
    to subject: RemoteSubject, group: String?,
    _ receive: @escaping @Sendable (TransportMessage) -> Void
  ) throws(TransportError) -> any TransportSubscription {
    try inner.subscribe(to: subject, group: group) { [peer] message in
      receive(
        TransportMessage(
          payload: message.payload, sender: peer.read { $0 }, answer: message.answer))
    }
  }

  func flush(within limit: Duration) async throws(TransportError) {}

  func onChange(_ changed: @escaping @Sendable (TransportState) -> Void)
    -> any TransportSubscription
  { inner.onChange(changed) }

  func close() { inner.close() }
}

@Suite("Calls over a transport that does anything")
struct CallModelTests {
  /// Makes one call over such a transport, in a task that the transport may cancel.
  private func call(
    _ steps: [Step], within deadline: Duration
  ) async throws -> (outcome: String, performed: Int, RemoteStatistics, StagedTransport) {
    let transport = StagedTransport(steps)
    let bank = try Bank((transport, transport), as: "bank")
    let remote = bank.remote
    remote.deadline = deadline
    remote.inFlightLimit = 1
    let call = Task { try await Vault.deposit(1, on: remote) }
    let (waits, end) = Self.end(of: steps)
    if end == .cancelled {
      try await eventually { transport.left.read { $0.count } > waits }
      call.cancel()
    }
    var outcome = "answered"
    do { #expect(try await call.value == 1) } catch { outcome = "\(error)" }
    // Answers that come later have no effect.
    if steps.contains(.answeredLate) { try await Task.sleep(for: .milliseconds(300)) }
    let counts = remote.statistics
    // Its place is free again.
    await #expect(throws: RemoteError.timedOut) {
      remote.deadline = .zero
      try await Vault.deposit(1, on: remote)
    }
    return (outcome, Int(bank.vault.balance), counts, transport)
  }

  /// How often a call is tried again, and what it ends with; nil if there is never a connection.
  private static func end(of script: [Step]) -> (Int, Step?) {
    let waits = script.prefix { $0.outcome == nil }.count
    return (waits, script.dropFirst(waits).first)
  }

  @Test("each call ends once as the rule says, and is performed at most once")
  func rule() async throws {
    var scripts = Step.allCases.map { [$0] }
    let ends = Step.allCases.filter { $0.outcome != nil }
    for end in ends { scripts.append([.noConnection, .noConnection, end, .answered]) }
    for _ in 0..<40 {
      let waits = Array(repeating: Step.noConnection, count: .random(in: 0..<4))
      scripts.append(waits + [ends.randomElement() ?? .answered])
    }
    try await withThrowingTaskGroup { tasks in
      for script in scripts { tasks.addTask { try await check(script) } }
      try await tasks.waitForAll()
    }
  }

  private func check(_ script: [Step]) async throws {
    let (waits, end) = Self.end(of: script)
    let expected = end?.outcome ?? "\(RemoteError.timedOut)"
    let isInTime = expected != "\(RemoteError.timedOut)"
    let (outcome, performed, counts, transport) = try await call(
      script, within: isInTime ? .seconds(3000) : .milliseconds(200))
    #expect(outcome == expected, "\(script)")
    let attempts = transport.left.read { $0.count }
    // Nothing is sent after the end.
    if isInTime { #expect(attempts == waits + 1, "\(script)") }
    // On a busy machine, the time may be over before the attempt.
    let isReached = attempts > waits
    #expect(performed == (end?.isPerformed == true && isReached ? 1 : 0), "\(script)")
    let isAnswered = expected == "answered"
    #expect(
      counts
        == RemoteStatistics(asked: 1, answered: isAnswered ? 1 : 0, failed: isAnswered ? 0 : 1),
      "\(script): \(counts)")
    #expect(transport.open.read { $0 } == 0, "\(script): requests are left")
    let isCancelled = expected == "\(RemoteError.cancelled)"
    #expect(transport.cancels.read { $0 } == (isCancelled ? 1 : 0), "\(script)")
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

  @Test("a call whose task is cancelled already is not sent", arguments: Way.allCases)
  func cancelledBefore(way: Way) async throws {
    let bank = try Bank(way)
    let call = Task { [remote = bank.remote] in
      withUnsafeCurrentTask { $0?.cancel() }
      return try await Vault.deposit(1, on: remote)
    }
    await #expect(throws: RemoteError.cancelled) { try await call.value }
    #expect(try await Vault.deposit(1, on: bank.remote) == 1)
    #expect(bank.remote.statistics == RemoteStatistics(asked: 2, answered: 1, failed: 1))
  }
}
