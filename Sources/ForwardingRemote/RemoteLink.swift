import Dispatch
import Invocations
import Synchronization

/// What a process knows of others that it sends to: calls that are on their way, and what became of them.
package final class RemoteLink: Sendable {
  private let transport: any Transport
  /// Where calls go unless they say otherwise.
  private let subject: RemoteSubject
  private let kept: Guarded<Settings>
  /// Drawn, so that a host knows a call that comes twice.
  private let sender = UInt64.random(in: .min ... .max)
  /// Numbers are drawn as well: who has seen one call, as another host has, cannot tell the next ones, and so not send
  /// in their place.
  private let secret = UInt64.random(in: .min ... .max)
  private let count = Atomic<UInt64>(0)
  private let onTheWay = Atomic(0)
  private let settling = Settling()
  private let state = Guarded(State())
  package let counts = RemoteCounts()

  package struct Settings: Sendable {
    package var deadline: Duration
    package var inFlight = 1000
    package var interrupted: (@Sendable () -> Void)?
    package var invalidated: (@Sendable () -> Void)?
  }

  package var settings: Settings { kept.read { $0 } }

  package func set<Value>(_ setting: WritableKeyPath<Settings, Value>, _ value: Value) {
    kept.withLock { $0[keyPath: setting] = value }
  }

  private struct State {
    var isClosed = false
    /// Those who wait for the connection to be there again.
    var waiting: [UInt64: OneAnswer] = [:]
    var watch: (any TransportSubscription)?
    /// The hosts that answered, as many as anybody needs to hear of.
    var hosts: Set<UInt64> = []
  }

  package init(_ transport: any Transport, _ subject: RemoteSubject, deadline: Duration) {
    self.transport = transport
    self.subject = subject
    kept = Guarded(Settings(deadline: deadline))
    let watch = transport.onChange { [weak self] change in self?.take(change) }
    state.withLock { $0.watch = watch }
  }

  deinit { state.read { $0.watch }?.end() }

  private func take(_ change: TransportState) {
    if change != .closed { settling.begin() }
    let waiting = state.withLockInPlace { state in
      if change == .closed { state.isClosed = true }
      if change == .interrupted { return [OneAnswer]() }
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

  private func meet(_ host: UInt64) {
    state.withLockInPlace { if $0.hosts.count < 4096 { _ = $0.hosts.insert(host) } }
  }

  // MARK: Sending

  private func request(_ kind: RemoteRequest.Kind, _ call: ArraySlice<UInt8>) -> RemoteRequest {
    RemoteRequest(kind, sender: sender, number: nextNumber(), milliseconds: 0, call: call)
  }

  /// A request as it is sent now, with the time that is left.
  private static func bytes(of request: RemoteRequest, until end: DispatchTime) -> [UInt8] {
    var request = request
    let (end, now) = (end.uptimeNanoseconds, DispatchTime.now().uptimeNanoseconds)
    request.milliseconds = UInt32(clamping: max(1, end > now ? (end - now) / 1_000_000 : 0))
    return request.bytes
  }

  /// A number that comes once, and nobody can guess: the hash has a key that this process has drawn.
  private func nextNumber() -> UInt64 {
    var hasher = Hasher()
    hasher.combine(secret)
    hasher.combine(count.wrappingAdd(1, ordering: .relaxed).newValue)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  /// Sends a call that nobody waits for.
  func tell(_ call: [UInt8]) throws(RemoteError) {
    let bytes = request(.told, call[...]).bytes
    do throws(TransportError) { try transport.publish(bytes, to: subject) } catch {
      throw RemoteError(error)
    }
    counts.told.wrappingAdd(1, ordering: .relaxed)
  }

  /// Sends a call, and awaits the one answer. Where nobody awaits it any more, the host is told.
  package func ask(
    _ call: [UInt8], of other: RemoteSubject? = nil
  ) async throws(RemoteError) -> [UInt8] {
    let end = end(nil)
    let request = request(.asked, call[...])
    let answer: RemoteAnswer
    do throws(RemoteError) {
      answer = try await entering { () async throws(RemoteError) in
        try await one(request, of: other ?? subject, until: end)
      }
    } catch {
      if case .cancelled = error { cancel(request, of: other ?? subject) }
      throw error
    }
    meet(answer.host)
    do throws(RemoteError) { return try answer.result() } catch .refused(.expired, _) {
      throw .timedOut
    }
  }

  private func cancel(_ request: RemoteRequest, of other: RemoteSubject) {
    let message = RemoteRequest(
      .cancel, sender: request.sender, number: request.number, milliseconds: 0, call: [])
    // Not to where calls go: of a group, that reaches one member, and another one may have the call.
    try? transport.publish(message.bytes, to: other.cancels)
  }

  /// Sends a request, and gives each answer to a closure, until that has enough or the time is over.
  func askAll(
    _ kind: RemoteRequest.Kind, _ call: [UInt8], within limit: Duration?,
    _ answered: @escaping @Sendable (RemoteAnswer) -> Bool
  ) async throws(RemoteError) {
    let end = end(limit)
    let request = request(kind, call[...])
    try await entering { () async throws(RemoteError) in
      let all = OneAnswer()
      let seen = Guarded(AnswersSeen())
      _ = try await send(request, subject, all, until: end, atEnd: .success(nil)) {
        [self] result in
        switch result {
        case .failure(let error): all.finish(.failure(RemoteError(error)))
        case .success(let bytes):
          guard let answer = RemoteAnswer(bytes, to: request),
            seen.withLockInPlace({ $0.takes(answer) })
          else { return counts.strange() }
          meet(answer.host)
          if answered(answer) { all.finish(.success(nil)) }
        }
      }
    }
  }

  private func end(_ limit: Duration?) -> DispatchTime {
    let limit = limit ?? settings.deadline
    let (seconds, attoseconds) = limit.components
    let nanoseconds = min(
      max(0, Double(seconds) * 1e9 + Double(attoseconds) / 1e9), 3.2e18)
    return DispatchTime(
      uptimeNanoseconds: DispatchTime.now().uptimeNanoseconds &+ UInt64(nanoseconds))
  }

  /// Counts a call in and out.
  private func entering<Result>(
    _ body: () async throws(RemoteError) -> Result
  ) async throws(RemoteError) -> Result {
    let limit = settings.inFlight
    guard onTheWay.wrappingAdd(1, ordering: .relaxed).newValue <= limit else {
      onTheWay.wrappingSubtract(1, ordering: .relaxed)
      counts.refusedHere.wrappingAdd(1, ordering: .relaxed)
      throw .congested(limit: limit)
    }
    defer { onTheWay.wrappingSubtract(1, ordering: .relaxed) }
    counts.asked.wrappingAdd(1, ordering: .relaxed)
    do throws(RemoteError) {
      let result = try await body()
      counts.answered.wrappingAdd(1, ordering: .relaxed)
      return result
    } catch {
      counts.failed.wrappingAdd(1, ordering: .relaxed)
      throw error
    }
  }

  private func one(
    _ request: RemoteRequest, of subject: RemoteSubject, until end: DispatchTime
  ) async throws(RemoteError) -> RemoteAnswer {
    let answer = OneAnswer()
    let known = try await send(request, subject, answer, until: end, atEnd: .failure(.timedOut)) {
      [counts] result in
      switch result {
      case .failure(let error): answer.finish(.failure(RemoteError(error)))
      case .success(let bytes):
        guard let read = RemoteAnswer(bytes, to: request) else { return counts.strange() }
        answer.finish(.success(read))
      }
    }
    guard let known else { throw .timedOut }
    return known
  }

  /// Sends a request, and awaits what an answer, the deadline, or the end of the task makes of it.
  private func send(
    _ request: RemoteRequest, _ subject: RemoteSubject, _ answer: OneAnswer,
    until end: DispatchTime, atEnd: OneAnswer.Outcome,
    _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
  ) async throws(RemoteError) -> RemoteAnswer? {
    let deadline = Deadlines.shared.add(at: end) { answer.finish(atEnd) }
    defer { Deadlines.shared.cancel(deadline) }
    var (pause, tries) = (20, settling.isGoingOn ? Settling.tries : 0)
    while true {
      let bytes = Self.bytes(of: request, until: end)
      let unheard = tries > 0 ? OneAnswer() : nil
      tries -= 1
      let heard = unheard.map { Settling.hearing($0, answered) } ?? answered
      let sent: any TransportRequest
      do throws(TransportError) {
        sent = try transport.request(bytes, to: subject, heard)
      } catch .interrupted {
        // Later calls wait for the connection, up to their deadline.
        settling.begin()
        tries = Settling.tries
        try await wait(answer, atMost: pause)
        pause = min(2 * pause, 320)
        continue
      } catch {
        throw RemoteError(error)
      }
      defer { sent.end() }
      guard let unheard, try await Settling.isUnheard(unheard, answer) else {
        return try await answer.wait()
      }
    }
  }

  private func wait(_ answer: OneAnswer, atMost milliseconds: Int) async throws(RemoteError) {
    let restored = OneAnswer()
    let number = nextNumber()
    let isClosed = state.withLockInPlace { state in
      if !state.isClosed { state.waiting[number] = restored }
      return state.isClosed
    }
    if isClosed { throw .closed }
    answer.whenFinished { restored.finish(.failure(.timedOut)) }
    // Nobody tells of what was over before: it is tried now and then as well.
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
