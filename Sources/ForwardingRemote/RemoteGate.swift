import Invocations
import Synchronization

/// Where calls come in, whatever performs them: so many at a time, each once, and each answered.
///
/// A call that suspends is the task that performs it. That is cancelled when its time is over, and when its caller says
/// that nobody waits any more.
package final class RemoteGate: Sendable {
  /// Drawn, so that others tell hosts of one name apart.
  package let number = UInt64.random(in: 1 ... .max)
  package let counts = RemoteCounts()
  private let transport: any Transport
  private let most = Atomic(1000)
  private let performing = Atomic(0)
  private let isDraining = Atomic(false)
  private let open = Guarded<[RemoteRequest.Key: OpenCall]>([:])

  package init(_ transport: any Transport) { self.transport = transport }

  /// How many calls are performed at a time.
  package var limit: Int {
    get { most.load(ordering: .relaxed) }
    set { most.store(newValue, ordering: .relaxed) }
  }

  /// Takes what came.
  ///
  /// - Parameter perform: performs a call, and gives the answer to the closure, once. It returns the task that does so,
  ///   or nil where that has ended.
  package func receive(
    _ message: TransportMessage, _ seen: DuplicateWindow,
    _ perform: (RemoteRequest, @escaping @Sendable (RemoteAnswer) -> Void) -> Task<Void, Never>?
  ) {
    let request: RemoteRequest
    do throws(RemoteRefusal) { request = try RemoteRequest(message.payload) } catch {
      counts.strange()
      return refuse(message, error)
    }
    switch request.kind {
    case .ping: return reply(RemoteAnswer(.pong, host: number), to: message)
    case .cancel: return cancel(request.key)
    case .asked, .told: break
    }
    if isDraining.load(ordering: .acquiring) { return refuse(message, .draining) }
    guard performing.wrappingAdd(1, ordering: .acquiring).newValue <= limit else {
      performing.wrappingSubtract(1, ordering: .releasing)
      return refuse(message, .busy)
    }
    admit(request, message, seen, perform)
  }

  private func admit(
    _ request: RemoteRequest, _ message: TransportMessage, _ seen: DuplicateWindow,
    _ perform: (RemoteRequest, @escaping @Sendable (RemoteAnswer) -> Void) -> Task<Void, Never>?
  ) {
    let isAsked = request.kind == .asked
    if isAsked {
      counts.asked.wrappingAdd(1, ordering: .relaxed)
    } else {
      counts.told.wrappingAdd(1, ordering: .relaxed)
    }
    let finding = seen.look(request)
    if case .new = finding {
      let call = OpenCall()
      if isAsked { set(call, request.key) }
      let task = perform(request) { [self] answer in
        let isLate = call.end()
        // What is thrown because the time is over is no word of the target's own.
        let answer =
          isLate && answer.kind == .failed ? .refused(.expired, "", host: number) : answer
        count(answer)
        if isAsked {
          seen.keep(answer, for: request)
          set(nil, request.key)
        }
        performing.wrappingSubtract(1, ordering: .releasing)
        if isAsked { reply(answer, to: message) }
      }
      if let task { call.begin(task, milliseconds: request.milliseconds) }
      return
    }
    counts.duplicates.wrappingAdd(1, ordering: .relaxed)
    performing.wrappingSubtract(1, ordering: .releasing)
    guard isAsked else { return }
    if case .answered(let answer) = finding { return reply(answer, to: message) }
    reply(.refused(.duplicate, "", host: number), to: message)
  }

  private func set(_ call: OpenCall?, _ key: RemoteRequest.Key) {
    let old = open.withLockInPlace { open in
      let old = open.removeValue(forKey: key)
      if let call { open[key] = call }
      return old
    }
    withExtendedLifetime(old) {}
  }

  /// Cancels a call: only its caller knows both numbers.
  private func cancel(_ key: RemoteRequest.Key) { open.read { $0[key] }?.cancel() }

  // MARK: Answers

  private func count(_ answer: RemoteAnswer) {
    switch answer.kind {
    case .answered, .pong: counts.answered.wrappingAdd(1, ordering: .relaxed)
    case .failed: counts.failed.wrappingAdd(1, ordering: .relaxed)
    case .refused: counts.refusedHere.wrappingAdd(1, ordering: .relaxed)
    }
  }

  private func refuse(_ message: TransportMessage, _ refusal: RemoteRefusal) {
    counts.refusedHere.wrappingAdd(1, ordering: .relaxed)
    reply(.refused(refusal, "", host: number), to: message)
  }

  /// Sends an answer; in place of one that the transport does not carry, that it does not.
  private func reply(_ answer: RemoteAnswer, to message: TransportMessage) {
    guard let send = message.answer else { return }
    let bytes = answer.bytes
    if bytes.count <= transport.maximumPayload { return send(bytes) }
    let error = TransportError.tooLarge(limit: transport.maximumPayload, given: bytes.count)
    send(RemoteAnswer.refused(.unsendableResult, "\(error)", host: number).bytes)
  }

  // MARK: Ending

  /// Takes no new calls, and waits for those that are being performed.
  package func drain(within limit: Duration) async throws(TransportError) {
    isDraining.store(true, ordering: .releasing)
    let end = ContinuousClock.now + limit
    while performing.load(ordering: .acquiring) > 0 {
      guard ContinuousClock.now < end else { throw .timedOut }
      do { try await Task.sleep(for: .milliseconds(1)) } catch { throw .timedOut }
    }
    try await transport.flush(within: limit)
  }
}
