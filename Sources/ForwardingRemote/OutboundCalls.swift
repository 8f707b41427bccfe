// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingWire
import Invocations

/// The sending side of remote calls.
///
/// A call that was sent is never sent again: it ends with its answer, at its deadline, or at once
/// when its connection breaks. A call that could not be sent, as there is no connection or as it
/// broke before, was not performed, and is tried again until its deadline.
final class OutboundCalls: Sendable {
  /// What a proxy sets for its calls.
  struct Settings: Sendable {
    var deadline: Duration
    var inFlight = 1000
    var interrupted: (@Sendable () -> Void)?
    var invalidated: (@Sendable () -> Void)?
  }

  private struct State {
    var settings: Settings
    var lastNumber: UInt64 = 0
    var inFlight = 0
    /// The hosts that answered, up to a limit.
    var hosts: Set<UInt64> = []
    var watch: (any TransportSubscription)?
  }

  let subject: RemoteSubject
  let counts = RemoteCounts()
  private let transport: any Transport
  private let state: Guarded<State>
  /// Request numbers depend on it, so a host that has seen one cannot forge the next.
  private let secret = UInt64.random(in: .min ... .max)

  init(_ transport: any Transport, _ subject: RemoteSubject, deadline: Duration) {
    self.transport = transport
    self.subject = subject
    state = Guarded(State(settings: Settings(deadline: deadline)))
    let watch = transport.onChange { [weak self] change in
      switch change {
      case .interrupted: self?.settings.interrupted?()
      case .closed: self?.settings.invalidated?()
      case .restored: break
      }
    }
    state.withLock { $0.watch = watch }
  }

  deinit { state.read { $0.watch }?.end() }

  var settings: Settings { state.read { $0.settings } }

  func set<Value>(_ setting: WritableKeyPath<Settings, Value>, _ value: Value) {
    state.withLock { $0.settings[keyPath: setting] = value }
  }

  /// The hosts that answered so far.
  var hosts: Set<UInt64> { state.read { $0.hosts } }

  // MARK: Calls

  /// Sends a call without an answer. The message has room for the header in front of the call.
  func tell(behindRoom message: consuming [UInt8]) throws(RemoteError) {
    RemoteRequest(.told, number: state.withLockInPlace { nextNumber(&$0) }).write(to: &message)
    // Before it is sent, as its receiver may look at the counts.
    counts.note { $0.told += 1 }
    do throws(TransportError) { try transport.publish(message, to: subject) } catch {
      counts.note { $0.told -= 1 }
      throw RemoteError(error)
    }
  }

  /// Sends a call, and awaits its one answer. If the task is cancelled, the host is notified.
  nonisolated(nonsending) func ask(
    behindRoom message: consuming [UInt8]
  ) async throws(RemoteError) -> ArraySlice<UInt8> {
    let call = try enter(within: nil)
    RemoteRequest(.asked, number: call.number).write(to: &message)
    let found = try await send(message, call, atEnd: .failure(.timedOut)) { .success($0) }
    leave(found?.kind == .refused ? \.refused : \.answered, meeting: found.map { [$0.host] } ?? [])
    do throws(RemoteError) { return try found?.result() ?? [] } catch .refused(.expired, _) {
      throw .timedOut
    }
  }

  /// Sends a request, and passes the answer of each host to a closure, until that returns true or
  /// the time is over. If known hosts have not answered by then, the call is cancelled on all hosts.
  nonisolated(nonsending) func askAll(
    _ kind: RemoteRequest.Kind, behindRoom message: consuming [UInt8] = RemoteRequest.room,
    within limit: Duration?, _ answered: @escaping @Sendable (RemoteAnswer) -> Bool
  ) async throws(RemoteError) {
    let call = try enter(within: limit)
    RemoteRequest(kind, number: call.number).write(to: &message)
    let seen = Guarded(AnswersSeen())
    _ = try await send(message, call, atEnd: .success(nil)) { [counts] answer in
      guard seen.withLockInPlace({ $0.admit(answer) }) else {
        counts.note { $0.strange += 1 }
        return nil
      }
      return answered(answer) ? .success(nil) : nil
    }
    let heard = seen.read { $0.hosts }
    if kind == .asked, !hosts.isSubset(of: heard) { cancel(call.number) }
    leave(heard.isEmpty ? \.failed : \.answered, meeting: heard)
  }

  /// The answers to one request of all hosts: one of each host, and limited in all.
  private struct AnswersSeen {
    private(set) var hosts: Set<UInt64> = []
    private var bytes = 0

    mutating func admit(_ answer: RemoteAnswer) -> Bool {
      guard hosts.count < OutboundCalls.mostHosts, bytes + answer.body.count <= 64 << 20,
        hosts.insert(answer.host).inserted
      else { return false }
      bytes += answer.body.count
      return true
    }
  }

  /// The most hosts that are told apart.
  private static let mostHosts = 4096

  // MARK: The way of a call

  /// A call that is counted as in flight.
  private struct Begun {
    let number: UInt64
    let end: DispatchTime
  }

  /// Counts a call in.
  private func enter(within limit: Duration?) throws(RemoteError) -> Begun {
    counts.note { $0.asked += 1 }
    // Sent to a host in this process, the call would be performed before it is cancelled.
    if Task.isCancelled {
      counts.note { $0.failed += 1 }
      throw .cancelled
    }
    let (number, settings) = state.withLockInPlace { state in
      let isFull = state.inFlight >= state.settings.inFlight
      if !isFull { state.inFlight += 1 }
      return (isFull ? nil : nextNumber(&state), state.settings)
    }
    guard let number else {
      counts.note { $0.refused += 1 }
      throw .congested(limit: settings.inFlight)
    }
    return Begun(number: number, end: Deadlines.time(after: limit ?? settings.deadline))
  }

  /// A unique number that cannot be guessed: the hash of a counter, with a secret key.
  private func nextNumber(_ state: inout State) -> UInt64 {
    state.lastNumber += 1
    var hasher = Hasher()
    hasher.combine(secret)
    hasher.combine(state.lastNumber)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  /// Counts a call out, in the count of its outcome.
  private func leave(
    _ count: WritableKeyPath<RemoteStatistics, Int>, meeting hosts: Set<UInt64> = []
  ) {
    counts.note { $0[keyPath: count] += 1 }
    state.withLockInPlace { state in
      state.inFlight -= 1
      if state.hosts.count < Self.mostHosts { state.hosts.formUnion(hosts) }
    }
  }

  /// Notifies the hosts that the sender of a call no longer waits.
  private func cancel(_ number: UInt64) {
    // Not to the subject of calls: there one member of a group gets it, maybe not the right one.
    try? transport.publish(RemoteRequest(.cancel, number: number).bytes, to: subject.cancels)
  }

  /// Sends a request, and awaits what the closure makes of an answer, the deadline, or the
  /// cancellation of the task. Counts the call out if that throws.
  private nonisolated(nonsending) func send(
    _ message: consuming [UInt8], _ call: Begun, atEnd: OneShot.Outcome,
    _ heard: @escaping @Sendable (RemoteAnswer) -> OneShot.Outcome?
  ) async throws(RemoteError) -> RemoteAnswer? {
    var pause = 5
    do throws(RemoteError) {
      while RemoteRequest.setTimeLeft(until: call.end, in: &message) {
        let outcome = OneShot()
        if let sent = try attempt(message, call, outcome, heard) {
          let result = await outcome.wait(until: call.end, atEnd: atEnd)
          sent.end()
          guard case .failure(.notCarried(.unsent)) = result else { return try result.get() }
        }
        // Nothing was sent: the call waits for a connection.
        try await OneShot.pause(until: min(.now() + .milliseconds(pause), call.end))
        pause = min(2 * pause, 160)
      }
      return try atEnd.get()
    } catch {
      if error == .cancelled, message[1] == RemoteRequest.Kind.asked.rawValue {
        cancel(call.number)
      }
      leave(\.failed)
      throw error
    }
  }

  /// Sends a request once. Returns nil if there is no connection.
  private func attempt(
    _ message: [UInt8], _ call: Begun, _ outcome: OneShot,
    _ heard: @escaping @Sendable (RemoteAnswer) -> OneShot.Outcome?
  ) throws(RemoteError) -> (any TransportRequest)? {
    do throws(TransportError) {
      return try transport.request(message, to: subject) { [counts, subject] result in
        switch result {
        case .failure(.nobodyListens): outcome.finish(.failure(subject.unheard))
        case .failure(let error): outcome.finish(.failure(RemoteError(error)))
        case .success(let bytes):
          guard let answer = RemoteAnswer(bytes, to: call.number) else {
            return counts.note { $0.strange += 1 }
          }
          // The timer may not be running yet when the time is over.
          guard DispatchTime.now() < call.end else { return }
          if let ending = heard(answer) { outcome.finish(ending) }
        }
      }
    } catch {
      if error == .interrupted { return nil }
      throw RemoteError(error)
    }
  }
}
