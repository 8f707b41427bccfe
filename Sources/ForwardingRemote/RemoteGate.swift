import Invocations
import Synchronization

/// Where calls come in, whatever performs them: so many at a time, each once, and each answered.
///
/// A call that does not suspend ends where it came in. One that does is the task that performs it, which is cancelled
/// when its time is over, and when its caller says that nobody waits any more.
package final class RemoteGate: Sendable {
  /// Drawn, so that others tell hosts of one name apart.
  package let number = UInt64.random(in: 1 ... .max)
  package let counts = RemoteCounts()
  private let transport: any Transport
  private let most = Atomic(1000)
  private let performing = Atomic(0)
  /// Answers that are being sent: their calls make room for others, but a host does not end before.
  private let answering = Atomic(0)
  private let isDraining = Atomic(false)
  private let open = OpenCalls()

  package init(_ transport: any Transport) { self.transport = transport }

  /// How many calls are performed at a time.
  package var limit: Int {
    get { most.load(ordering: .relaxed) }
    set { most.store(newValue, ordering: .relaxed) }
  }

  /// Takes what came.
  ///
  /// - Parameters:
  ///   - read: finds out what is to be performed, and whether it may be. What it refuses leaves nothing behind.
  ///   - atOnce: performs a call that does not suspend, and returns the answer; nil for all others.
  ///   - perform: performs a call, and gives the answer to the closure, once. It returns the task that does so.
  package func receive<Call>(
    _ message: TransportMessage, _ seen: DuplicateWindow,
    read: (RemoteRequest) throws(RefusedCall) -> Call,
    atOnce: (Call) -> RemoteAnswer? = { _ in nil }, perform: Performing<Call>
  ) {
    let request: RemoteRequest
    do throws(RemoteRefusal) { request = try RemoteRequest(message.payload) } catch {
      counts.strange()
      return refuse(message, error)
    }
    switch request.kind {
    case .ping: return answerPing(request, message)
    case .cancel:
      // Not here: of a group, one member would hear it.
      counts.strange()
      return refuse(message, .malformed)
    case .asked, .told: break
    }
    // Counted first: who drains sees this call, or this sees that it drains.
    let count = performing.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
    let refusal: RemoteRefusal? =
      isDraining.load(ordering: .sequentiallyConsistent) ? .draining : count > limit ? .busy : nil
    if let refusal {
      performing.wrappingSubtract(1, ordering: .releasing)
      // What is told has no answer, not even where it names a place for one.
      if request.kind == .asked { return refuse(message, refusal) }
      return counts.refuse()
    }
    if request.kind == .asked {
      counts.asked.wrappingAdd(1, ordering: .relaxed)
    } else {
      counts.told.wrappingAdd(1, ordering: .relaxed)
    }
    let call: Call
    do throws(RefusedCall) { call = try read(request) } catch {
      counts.refuse()
      return end(request, message, .refused(error.refusal, error.text, host: number))
    }
    switch seen.look(request.key(of: message.sender)) {
    case .new:
      if let answer = atOnce(call) {
        finish(request, message, seen, answer)
      } else {
        begin(request, message, seen, call, perform)
      }
    case .answered(let answer):
      counts.duplicates.wrappingAdd(1, ordering: .relaxed)
      end(request, message, answer)
    case .begun:
      counts.duplicates.wrappingAdd(1, ordering: .relaxed)
      end(request, message, .refused(.duplicate, "", host: number))
    }
  }

  private func answerPing(_ request: RemoteRequest, _ message: TransportMessage) {
    guard request.call.isEmpty else {
      counts.strange()
      return refuse(message, .malformed)
    }
    if isDraining.load(ordering: .sequentiallyConsistent) { return refuse(message, .draining) }
    reply(RemoteAnswer(.pong, host: number), to: message)
  }

  /// Performs a call.
  package typealias Performing<Call> = (Call, @escaping @Sendable (RemoteAnswer) -> Void) -> Task<
    Void, Never
  >

  private func begin<Call>(
    _ request: RemoteRequest, _ message: TransportMessage, _ seen: DuplicateWindow, _ call: Call,
    _ perform: Performing<Call>
  ) {
    let isAsked = request.kind == .asked
    let open = OpenCall()
    let key = request.key(of: message.sender)
    if isAsked { self.open.begin(open, key) }
    let task = perform(call) { [self] answer in
      let isLate = open.end()
      if isAsked { self.open.end(key) }
      // What is thrown because the time is over is no word of the target's own.
      finish(
        request, message, seen,
        isLate && answer.kind == .failed ? .refused(.expired, "", host: number) : answer)
    }
    open.begin(task, milliseconds: request.milliseconds)
  }

  /// Counts and keeps what became of a call, and answers it.
  private func finish(
    _ request: RemoteRequest, _ message: TransportMessage, _ seen: DuplicateWindow,
    _ answer: consuming RemoteAnswer
  ) {
    if let refusal = beyondLimit(answer) { answer = refusal }
    // Before it is kept: nobody else has its bytes yet, so they are not copied.
    answer.address(to: message.payload)
    count(answer)
    if request.kind == .asked { seen.keep(answer, for: request.key(of: message.sender)) }
    end(request, message, answer)
  }

  /// Makes room for another call, and answers who waits for this one.
  private func end(
    _ request: RemoteRequest, _ message: TransportMessage, _ answer: RemoteAnswer
  ) {
    answering.wrappingAdd(1, ordering: .acquiring)
    performing.wrappingSubtract(1, ordering: .releasing)
    if request.kind == .asked { reply(answer, to: message) }
    answering.wrappingSubtract(1, ordering: .releasing)
  }

  /// Takes what came where calls are cancelled: nothing else, as who may send there may send nothing else.
  ///
  /// It is a call of the same peer that is cancelled: nobody but its caller and its hosts knows both numbers.
  package func cancel(_ message: TransportMessage) {
    guard let request = try? RemoteRequest(message.payload), request.kind == .cancel,
      request.call.isEmpty
    else {
      counts.strange()
      return refuse(message, .malformed)
    }
    open.cancel(request.key(of: message.sender))
  }

  // MARK: Answers

  private func count(_ answer: RemoteAnswer) {
    switch answer.kind {
    case .answered, .pong: counts.answered.wrappingAdd(1, ordering: .relaxed)
    case .failed: counts.failed.wrappingAdd(1, ordering: .relaxed)
    case .refused: counts.refuse()
    }
  }

  /// Answers that it is not performed, whatever it is.
  package func refuse(_ message: TransportMessage, _ refusal: RemoteRefusal) {
    counts.refuse()
    reply(.refused(refusal, "", host: number), to: message)
  }

  private func reply(_ answer: RemoteAnswer, to message: TransportMessage) {
    message.answer?(answer.bytes(to: message.payload))
  }

  /// What is said in place of an answer that the transport does not carry.
  private func beyondLimit(_ answer: RemoteAnswer) -> RemoteAnswer? {
    let (limit, size) = (transport.maximumPayload, answer.bytes.count)
    if size <= limit { return nil }
    return .refused(
      .unsendableResult, "\(TransportError.tooLarge(limit: limit, given: size))", host: number)
  }

  // MARK: Ending

  /// Takes no new calls, waits for those that are being performed, and closes: also when the time is over, or nobody
  /// waits any more.
  package func drain(
    within limit: Duration, closing: () -> Void
  ) async throws(TransportError) {
    isDraining.store(true, ordering: .sequentiallyConsistent)
    let end = ContinuousClock.now + limit
    var isInTime = true
    while isInTime,
      performing.load(ordering: .sequentiallyConsistent) > 0
        || answering.load(ordering: .acquiring) > 0
    {
      isInTime = ContinuousClock.now < end
      do { try await Deadlines.pause(milliseconds: 1) } catch { isInTime = false }
    }
    closing()
    guard isInTime else { throw .timedOut }
    // What was answered is out, and whoever sends from now on is told that nobody listens.
    try await flush(within: max(.zero, end - .now))
  }

  /// Waits until what was sent, and whom the transport listens for, is known to the other side.
  package func flush(within limit: Duration) async throws(TransportError) {
    try await transport.flush(within: limit)
  }
}

/// Why a call is not performed.
package struct RefusedCall: Error {
  let refusal: RemoteRefusal
  let text: String

  package init(_ refusal: RemoteRefusal, _ text: String = "") {
    self.refusal = refusal
    self.text = text
  }
}
