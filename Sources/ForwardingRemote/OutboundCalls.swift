// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations
import Synchronization

/// The sending side of remote calls: calls in flight, and their counts.
package final class OutboundCalls: Sendable {
  let transport: any Transport
  /// The subject of calls that do not name another one.
  let subject: RemoteSubject
  private let kept: Guarded<Settings>
  /// The settings that each call reads: its deadline in nanoseconds, and the limit.
  private let pause: Atomic<Int>
  private let most: Atomic<Int>
  /// Request numbers depend on it, so a host that has seen one cannot forge the next.
  private let secret = UInt64.random(in: .min ... .max)
  private let count = Atomic<UInt64>(0)
  private let onTheWay = Atomic(0)
  let settling = ReconnectGrace()
  /// The host that answered last. It is 0 at first; no host has that number, but an answer may.
  private let met = Atomic<UInt64>(0)
  private let state = Guarded(State())
  package let counts = RemoteCounts()

  package var settings: Settings { kept.read { $0 } }

  package func set<Value>(_ setting: WritableKeyPath<Settings, Value>, _ value: Value) {
    kept.withLock {
      $0[keyPath: setting] = value
      pause.store($0.pause, ordering: .relaxed)
      most.store($0.inFlight, ordering: .relaxed)
    }
  }

  private struct State {
    var isClosed = false
    /// Calls that wait for the connection to be restored.
    var waiting: [UInt64: OneShot] = [:]
    var watch: (any TransportSubscription)?
    /// The hosts that answered, up to a limit.
    var hosts: Set<UInt64> = []
  }

  package init(_ transport: any Transport, _ subject: RemoteSubject, deadline: Duration) {
    self.transport = transport
    self.subject = subject
    let settings = Settings(deadline: deadline)
    kept = Guarded(settings)
    pause = Atomic(settings.pause)
    most = Atomic(settings.inFlight)
    let watch = transport.onChange { [weak self] change in self?.take(change) }
    state.withLock { $0.watch = watch }
  }

  deinit { state.read { $0.watch }?.end() }

  private func take(_ change: TransportState) {
    if change != .closed { settling.begin() }
    let waiting = state.withLockInPlace { state in
      if change == .closed { state.isClosed = true }
      if change == .interrupted { return [OneShot]() }
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for one in waiting {
      one.finish(change == .closed ? .failure(.closed) : .success(nil))
    }
    let settings = settings
    switch change {
    case .interrupted: settings.interrupted?()
    case .closed: settings.invalidated?()
    case .restored: break
    }
  }

  /// The hosts that answered so far.
  var hosts: Set<UInt64> { state.read { $0.hosts } }

  func meet(_ host: UInt64) {
    // Most answers come from the same host as the previous one.
    if host != 0, met.load(ordering: .relaxed) == host { return }
    state.withLockInPlace { if $0.hosts.count < 4096 { _ = $0.hosts.insert(host) } }
    met.store(host, ordering: .relaxed)
  }

  // MARK: Sending

  func request(_ kind: RemoteRequest.Kind) -> RemoteRequest {
    RemoteRequest(kind, number: nextNumber())
  }

  /// A unique number that cannot be guessed: the hash of a counter, with a secret key.
  private func nextNumber() -> UInt64 {
    var hasher = Hasher()
    hasher.combine(secret)
    hasher.combine(count.wrappingAdd(1, ordering: .relaxed).newValue)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  /// Sends a call without an answer. The message has room for the header in front of the call.
  func tell(behindRoom message: consuming [UInt8]) throws(RemoteError) {
    request(.told).write(to: &message)
    // Before it is sent, as its receiver may look at the counts.
    counts.told.wrappingAdd(1, ordering: .relaxed)
    do throws(TransportError) { try transport.publish(message, to: subject) } catch {
      counts.told.wrappingSubtract(1, ordering: .relaxed)
      throw RemoteError(error)
    }
  }

  func cancel(_ number: UInt64, of other: RemoteSubject) {
    let message = RemoteRequest(.cancel, number: number)
    // Not to the subject of calls: there one member of a group gets it, maybe not the right one.
    try? transport.publish(message.bytes, to: other.cancels)
  }

  /// Sends a request, and passes each answer to a closure, until that returns true or the time is
  /// over. If known hosts have not answered by then, the request is cancelled on all hosts.
  func askAll(
    _ kind: RemoteRequest.Kind, behindRoom message: [UInt8] = RemoteRequest.room,
    within limit: Duration?,
    _ answered: @escaping @Sendable (RemoteAnswer) -> Bool
  ) async throws(RemoteError) {
    let request = request(kind)
    var message = message
    request.write(to: &message)
    let end = try enter(within: limit).end
    let seen = Guarded(AnswersSeen())
    do throws(RemoteError) {
      let all = OneShot()
      _ = try await send(message, to: subject, all, until: end, atEnd: .success(nil)) {
        [self] result in
        switch result {
        case .failure(let error): all.finish(settling.failure(error))
        case .success(let bytes):
          guard let answer = RemoteAnswer(bytes, to: request.number),
            seen.withLockInPlace({ $0.admit(answer) })
          else { return counts.strange() }
          meet(answer.host)
          if answered(answer) { all.finish(.success(nil)) }
        }
      }
    } catch {
      leave(counts.failed)
      if kind == .asked, case .cancelled = error { cancel(request.number, of: subject) }
      throw error
    }
    let heard = seen.read { $0.hosts }
    if heard.isEmpty { leave(counts.failed) } else { leave(counts.answered) }
    if kind == .asked, !hosts.isSubset(of: heard) { cancel(request.number, of: subject) }
  }

  /// Counts a call in. Returns the time and its deadline, which is that of the link if `limit` is
  /// nil.
  func enter(
    within limit: Duration?
  ) throws(RemoteError) -> (now: DispatchTime, end: DispatchTime) {
    let inFlight = most.load(ordering: .relaxed)
    counts.asked.wrappingAdd(1, ordering: .relaxed)
    // Sent to a host in this process, the call would be performed before it is cancelled.
    if Task.isCancelled {
      counts.failed.wrappingAdd(1, ordering: .relaxed)
      throw .cancelled
    }
    guard onTheWay.wrappingAdd(1, ordering: .relaxed).newValue <= inFlight else {
      onTheWay.wrappingSubtract(1, ordering: .relaxed)
      counts.refuse()
      throw .congested(limit: inFlight)
    }
    let pause = limit.map { Settings(deadline: $0).pause } ?? pause.load(ordering: .relaxed)
    let now = DispatchTime.now()
    return (now, DispatchTime(uptimeNanoseconds: now.uptimeNanoseconds + UInt64(pause)))
  }

  /// Counts a call out, in the count of its outcome.
  func leave(_ count: borrowing Atomic<Int>) {
    count.wrappingAdd(1, ordering: .relaxed)
    onTheWay.wrappingSubtract(1, ordering: .relaxed)
  }

  /// Sends a request once. Returns nil if there is no connection.
  func attempt(
    _ message: [UInt8], to subject: RemoteSubject, _ heard: @escaping ReconnectGrace.Heard
  ) throws(RemoteError) -> (any TransportRequest)? {
    do throws(TransportError) { return try transport.request(message, to: subject, heard) } catch {
      if error == .interrupted { return nil }
      throw RemoteError(error)
    }
  }

  /// Sends a request, unless a first attempt is given, and awaits an answer, the deadline, or the
  /// cancellation of the task.
  nonisolated(nonsending) func send(
    _ message: consuming [UInt8], to subject: RemoteSubject, _ answer: OneShot,
    until end: DispatchTime, atEnd: OneShot.Outcome, after first: FirstAttempt? = nil,
    _ answered: @escaping ReconnectGrace.Heard
  ) async throws(RemoteError) -> RemoteAnswer? {
    var first = first
    var deadline: Deadlines.Number?
    defer { if let deadline { Deadlines.shared.cancel(deadline) } }
    var (pause, tries) = (20, first == nil && settling.isGoingOn ? ReconnectGrace.tries : 0)
    var wasUnheard = false
    while true {
      let unheard: OneShot?
      let sent: (any TransportRequest)?
      if let begun = first.take() {
        (unheard, sent) = (nil, begun.request)
      } else {
        // The deadline and the cancellation may also come between two attempts.
        let over = deadline == nil ? nil : answer.over
        guard over == nil, RemoteRequest.setTimeLeft(until: end, in: &message) else {
          return try ReconnectGrace.last(over ?? atEnd, wasUnheard).get()
        }
        unheard = tries > 0 ? OneShot() : nil
        tries -= 1
        sent = try attempt(
          message, to: subject, unheard.map { ReconnectGrace.hearing($0, answered) } ?? answered)
      }
      defer { sent?.end() }
      // A host in this process has answered by now, so no timer is needed.
      if unheard == nil, let known = answer.outcomeIfSent { return try known.get() }
      if deadline == nil {
        deadline = Deadlines.shared.add(at: end) { answer.finish(atEnd) }
      }
      guard sent != nil else {
        // There is no connection: the call waits for one, up to its deadline.
        settling.begin()
        wasUnheard = false
        tries = ReconnectGrace.tries
        try await wait(answer, atMost: pause)
        pause = min(2 * pause, 320)
        continue
      }
      wasUnheard =
        if let unheard { try await ReconnectGrace.isUnheard(unheard, answer) } else { false }
      if wasUnheard { continue }
      do throws(RemoteError) { return try await answer.wait() } catch {
        guard answer.isUnsent else { throw error }
      }
      // It was not sent, so it waits for a connection.
      tries = ReconnectGrace.tries
      answer.reopen()
    }
  }

  private func wait(_ answer: OneShot, atMost milliseconds: Int) async throws(RemoteError) {
    let restored = OneShot()
    let number = nextNumber()
    let isClosed = state.withLockInPlace { state in
      if !state.isClosed { state.waiting[number] = restored }
      return state.isClosed
    }
    if isClosed { throw .closed }
    answer.onlyWhenFinished { restored.finish(.failure(.timedOut)) }
    // A connection restored before this point is not reported, so it is also tried at intervals.
    let again = Deadlines.shared.add(in: .milliseconds(milliseconds)) {
      restored.finish(.success(nil))
    }
    defer { Deadlines.shared.cancel(again) }
    defer { _ = state.withLockInPlace { $0.waiting.removeValue(forKey: number) } }
    do throws(RemoteError) { _ = try await restored.wait() } catch {
      if case .timedOut = error { _ = try await answer.wait() }
      throw error
    }
  }
}
