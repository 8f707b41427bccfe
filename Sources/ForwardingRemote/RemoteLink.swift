import Dispatch
import Invocations
import Synchronization

/// What a process knows of others that it sends to: calls on their way, and what became of them.
package final class RemoteLink: Sendable {
  private let transport: any Transport
  /// Where calls go unless they say otherwise.
  private let subject: RemoteSubject
  private let kept: Guarded<Settings>
  /// Drawn, so that a host knows a call that comes twice.
  private let sender = UInt64.random(in: .min ... .max)
  /// Numbers are drawn as well: who has seen one call, as another host has, sends nothing in place of the next ones.
  private let secret = UInt64.random(in: .min ... .max)
  private let count = Atomic<UInt64>(0)
  private let onTheWay = Atomic(0)
  private let settling = Settling()
  /// The host that answered last; at first 0, which no host draws, but anybody may say.
  private let met = Atomic<UInt64>(0)
  private let state = Guarded(State())
  package let counts = RemoteCounts()

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
    // Most answers are those of the host before.
    if host != 0, met.load(ordering: .relaxed) == host { return }
    state.withLockInPlace { if $0.hosts.count < 4096 { _ = $0.hosts.insert(host) } }
    met.store(host, ordering: .relaxed)
  }

  // MARK: Sending

  private func request(_ kind: RemoteRequest.Kind) -> RemoteRequest {
    RemoteRequest(kind, sender: sender, number: nextNumber())
  }

  /// A number that comes once, and nobody can guess: the hash has a key that this process has drawn.
  private func nextNumber() -> UInt64 {
    var hasher = Hasher()
    hasher.combine(secret)
    hasher.combine(count.wrappingAdd(1, ordering: .relaxed).newValue)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  /// Sends a call that nobody waits for, behind room for what goes around it.
  func tell(behindRoom message: consuming [UInt8]) throws(RemoteError) {
    request(.told).write(to: &message)
    // Before it is sent: who hears of it may ask.
    counts.told.wrappingAdd(1, ordering: .relaxed)
    do throws(TransportError) { try transport.publish(message, to: subject) } catch {
      counts.told.wrappingSubtract(1, ordering: .relaxed)
      throw RemoteError(error)
    }
  }

  /// Sends a call, and awaits the one answer. Where nobody awaits it any more, the host is told.
  package func ask(
    _ call: [UInt8], of other: RemoteSubject
  ) async throws(RemoteError) -> [UInt8] {
    Array(try await ask(behindRoom: RemoteRequest.behindRoom(call), of: other))
  }

  /// The same for a call behind room for what goes around it.
  nonisolated(nonsending) func ask(
    behindRoom message: consuming [UInt8], of other: RemoteSubject? = nil
  ) async throws(RemoteError) -> ArraySlice<UInt8> {
    let (subject, request) = (other ?? subject, request(.asked))
    request.write(to: &message)
    let end = try enter(within: nil)
    let answer = OneAnswer()
    let known: RemoteAnswer?
    do throws(RemoteError) {
      known = try await send(
        message, to: subject, answer, until: end, atEnd: .failure(.timedOut)
      ) { [counts, settling] result in
        switch result {
        case .failure(let error): answer.finish(settling.failure(error))
        case .success(let bytes):
          guard let read = RemoteAnswer(bytes, to: request) else { return counts.strange() }
          // Nobody may be waiting yet for the time to be over.
          answer.finish(DispatchTime.now() < end ? .success(read) : .failure(.timedOut))
        }
      }
      switch known?.kind {
      case .refused: leave(counts.refusals)
      case nil: leave(counts.failed)
      default: leave(counts.answered)
      }
    } catch {
      leave(counts.failed)
      if case .cancelled = error { cancel(request, of: subject) }
      throw error == RemoteError(.nobodyListens) ? subject.unheard : error
    }
    // The one that ends without an answer has thrown.
    guard let known else { throw .timedOut }
    meet(known.host)
    do throws(RemoteError) { return try known.result() } catch .refused(.expired, _) {
      throw .timedOut
    }
  }

  private func cancel(_ request: RemoteRequest, of other: RemoteSubject) {
    let message = RemoteRequest(.cancel, sender: request.sender, number: request.number)
    // Not to where calls go: of a group, that reaches one member, and another one may have the call.
    try? transport.publish(message.bytes, to: other.cancels)
  }

  /// Sends a request, and gives each answer to a closure, until that has enough or the time is over. Where hosts that are
  /// known have not answered by then, all are told that nobody waits any more.
  func askAll(
    _ kind: RemoteRequest.Kind, _ call: [UInt8], within limit: Duration?,
    _ answered: @escaping @Sendable (RemoteAnswer) -> Bool
  ) async throws(RemoteError) {
    let request = request(kind)
    var message = RemoteRequest.behindRoom(call)
    request.write(to: &message)
    let end = try enter(within: limit)
    let seen = Guarded(AnswersSeen())
    do throws(RemoteError) {
      let all = OneAnswer()
      _ = try await send(message, to: subject, all, until: end, atEnd: .success(nil)) {
        [self] result in
        switch result {
        case .failure(let error): all.finish(settling.failure(error))
        case .success(let bytes):
          guard let answer = RemoteAnswer(bytes, to: request),
            seen.withLockInPlace({ $0.takes(answer) })
          else { return counts.strange() }
          meet(answer.host)
          if answered(answer) { all.finish(.success(nil)) }
        }
      }
    } catch {
      leave(counts.failed)
      if kind == .asked, case .cancelled = error { cancel(request, of: subject) }
      throw error
    }
    let heard = seen.read { $0.hosts }
    if heard.isEmpty { leave(counts.failed) } else { leave(counts.answered) }
    if kind == .asked, !hosts.isSubset(of: heard) { cancel(request, of: subject) }
  }

  /// Counts a call in, and says when its time is over: that of the link unless given.
  private func enter(within limit: Duration?) throws(RemoteError) -> DispatchTime {
    let (deadline, inFlight) = kept.read { ($0.deadline, $0.inFlight) }
    counts.asked.wrappingAdd(1, ordering: .relaxed)
    // Where the host is in this process, it would have been performed by now.
    if Task.isCancelled {
      counts.failed.wrappingAdd(1, ordering: .relaxed)
      throw .cancelled
    }
    guard onTheWay.wrappingAdd(1, ordering: .relaxed).newValue <= inFlight else {
      onTheWay.wrappingSubtract(1, ordering: .relaxed)
      counts.refuse()
      throw .congested(limit: inFlight)
    }
    return DispatchTime(after: limit ?? deadline)
  }

  /// Counts a call out, as one with an answer or one without.
  private func leave(_ count: borrowing Atomic<Int>) {
    count.wrappingAdd(1, ordering: .relaxed)
    onTheWay.wrappingSubtract(1, ordering: .relaxed)
  }

  /// Sends a request, and awaits what an answer, the deadline, or the end of the task makes of it.
  private nonisolated(nonsending) func send(
    _ message: consuming [UInt8], to subject: RemoteSubject, _ answer: OneAnswer,
    until end: DispatchTime, atEnd: OneAnswer.Outcome,
    _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
  ) async throws(RemoteError) -> RemoteAnswer? {
    var deadline: Deadlines.Number?
    defer { if let deadline { Deadlines.shared.cancel(deadline) } }
    var (pause, tries) = (20, settling.isGoingOn ? Settling.tries : 0)
    while true {
      RemoteRequest.setTimeLeft(until: end, in: &message)
      let unheard = tries > 0 ? OneAnswer() : nil
      tries -= 1
      let heard = if let unheard { Settling.hearing(unheard, answered) } else { answered }
      let sent: (any TransportRequest)?
      do throws(TransportError) {
        sent = try transport.request(message, to: subject, heard)
      } catch .interrupted {
        sent = nil
      } catch {
        throw RemoteError(error)
      }
      defer { sent?.end() }
      // In this process the answer is there by now, and nothing has to wait for its deadline.
      if unheard == nil, let known = answer.outcome, !answer.isUnsent { return try known.get() }
      if deadline == nil {
        deadline = Deadlines.shared.add(at: end) { answer.finish(atEnd) }
      }
      guard sent != nil else {
        // Later calls wait for the connection, up to their deadline.
        settling.begin()
        tries = Settling.tries
        try await wait(answer, atMost: pause)
        pause = min(2 * pause, 320)
        continue
      }
      if let unheard, try await Settling.isUnheard(unheard, answer) { continue }
      do throws(RemoteError) { return try await answer.wait() } catch {
        guard answer.isUnsent else { throw error }
      }
      // Nobody has it: it goes on as one that found no connection. The end of its time may have come meanwhile.
      guard DispatchTime.now() < end else { return try atEnd.get() }
      tries = Settling.tries
      answer.reopen()
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
    answer.onlyWhenFinished { restored.finish(.failure(.timedOut)) }
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
