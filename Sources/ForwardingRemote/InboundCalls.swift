// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations
import Synchronization

/// Receives calls, whatever performs them: a limited number at a time, and each answered.
///
/// A call that does not suspend is performed on the thread that receives it. A call that suspends
/// has a task, which is cancelled when its time is over or its caller no longer waits.
package final class InboundCalls: Sendable {
  /// A random number by which others tell hosts of one name apart.
  package let number = UInt64.random(in: 1 ... .max)
  package let counts = RemoteCounts()
  private let transport: any Transport
  private let most = Atomic(1000)
  private let performing = Atomic(0)
  /// Answers being sent. Their calls do not count towards the limit, but draining waits for them.
  private let answering = Atomic(0)
  /// Calls that have ended, but are still in a lane. They count towards the limit, but draining does
  /// not wait for them.
  private let leftBehind = Atomic(0)
  private let isDraining = Atomic(false)
  private let open = InFlightCalls()

  private let watch: (any TransportSubscription)?

  package init(_ transport: any Transport) {
    self.transport = transport
    watch = (transport as? any ConnectionsTransport)?.onEnd { [open] in open.cancelAll(of: $0) }
  }

  deinit { watch?.end() }

  /// The maximum number of calls in progress.
  package var limit: Int {
    get { most.load(ordering: .relaxed) }
    set { most.store(newValue, ordering: .relaxed) }
  }

  /// Receives a message.
  ///
  /// - Parameters:
  ///   - read: Decodes a call and checks whether it may be performed.
  ///   - atOnce: Performs a call that does not suspend and returns the answer; nil for other calls.
  ///   - stay: The time that a call spends in a lane; nil for calls that are in none.
  ///   - perform: Performs a call, and passes its answer to the closure once. Returns its task.
  package func receive<Call>(
    _ message: TransportMessage, read: (RemoteRequest) throws(RefusedCall) -> Call,
    atOnce: (Call) -> RemoteAnswer? = { _ in nil }, stay: (Call) -> LaneStay? = { _ in nil },
    perform: Performing<Call>
  ) {
    let request: RemoteRequest
    do throws(RemoteRefusal) { request = try RemoteRequest(message.payload) } catch {
      counts.strange()
      return refuse(message, error)
    }
    switch request.kind {
    case .ping: return answerPing(request, message)
    case .cancel:
      // Cancels have their own subject. Here, only one member of a group would receive them.
      counts.strange()
      return refuse(message, .malformed)
    case .asked, .told: break
    }
    // Counted first: either draining sees this call, or this call sees the draining.
    let count = performing.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
    let refusal: RemoteRefusal? =
      isDraining.load(ordering: .sequentiallyConsistent)
      ? .draining : count + leftBehind.load(ordering: .relaxed) > limit ? .busy : nil
    if let refusal {
      performing.wrappingSubtract(1, ordering: .releasing)
      // A call that is not awaited has no answer, even if the message names a subject for one.
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
    if let answer = atOnce(call) {
      finish(request, message, answer)
    } else {
      begin(request, message, call, stay(call), perform)
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

  /// Performs a call, passes its answer to the closure once, and returns its task.
  package typealias Performing<Call> = (Call, @escaping @Sendable (RemoteAnswer) -> Void) -> Task<
    Void, Never
  >

  private func begin<Call>(
    _ request: RemoteRequest, _ message: TransportMessage, _ call: Call, _ stay: LaneStay?,
    _ perform: Performing<Call>
  ) {
    let isAsked = request.kind == .asked
    let open = InFlightCall(message.connection)
    let key = request.key(of: message.sender)
    if isAsked { self.open.begin(open, key) }
    let task = perform(call) { [self] answer in
      let isLate = open.end()
      if isAsked { self.open.end(open, key) }
      if let stay { keepPlace(until: stay) }
      // An error after the end of the time is a result of the cancellation, not the target's own.
      finish(
        request, message,
        isLate && answer.kind == .failed ? .refused(.expired, "", host: number) : answer)
    }
    open.begin(task, milliseconds: request.milliseconds)
  }

  /// Counts a call that ends for as long as it is still in a lane. This is done before its place is
  /// freed, so that the limit never finds it in neither count.
  private func keepPlace(until stay: LaneStay) {
    leftBehind.wrappingAdd(1, ordering: .relaxed)
    stay.whenOver { [self] in leftBehind.wrappingSubtract(1, ordering: .relaxed) }
  }

  /// Counts and sends the answer to a call.
  private func finish(
    _ request: RemoteRequest, _ message: TransportMessage, _ answer: consuming RemoteAnswer
  ) {
    if let refusal = beyondLimit(answer) { answer = refusal }
    count(answer)
    end(request, message, answer)
  }

  /// Frees the place of a call, and answers its caller if that waits.
  private func end(
    _ request: RemoteRequest, _ message: TransportMessage, _ answer: consuming RemoteAnswer
  ) {
    answering.wrappingAdd(1, ordering: .acquiring)
    performing.wrappingSubtract(1, ordering: .releasing)
    if request.kind == .asked { reply(answer, to: message) }
    answering.wrappingSubtract(1, ordering: .releasing)
  }

  /// Receives a message on the subject of cancels. All other messages are refused, as the
  /// permission to publish there is not a permission to call.
  ///
  /// Only a call of the same peer is cancelled, and only its caller and its hosts know the number.
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

  /// Refuses a message, whatever it contains.
  package func refuse(_ message: TransportMessage, _ refusal: RemoteRefusal) {
    counts.refuse()
    guard refusal == .version else {
      return reply(.refused(refusal, "", host: number), to: message)
    }
    message.answer?(RemoteAnswer.otherVersion(to: message.payload, host: number))
  }

  private func reply(_ answer: consuming RemoteAnswer, to message: TransportMessage) {
    let answer = answer.withText(within: transport.maximumPayload)
    message.answer?(answer.addressed(to: message.payload))
  }

  /// The refusal in place of a result that is too long for the transport; nil if it is not too
  /// long.
  private func beyondLimit(_ answer: RemoteAnswer) -> RemoteAnswer? {
    let (limit, size) = (transport.maximumPayload, answer.bytes.count)
    if size <= limit || answer.kind != .answered { return nil }
    return .refused(
      .unsendableResult, "\(TransportError.tooLarge(limit: limit, given: size))", host: number)
  }

  // MARK: Ending

  /// Refuses new calls, waits for the calls in progress, and closes, even if the time ends or the
  /// task is cancelled first.
  ///
  /// - Throws: `TransportError.timedOut` if calls were still in progress; errors of flushing.
  package func drain(
    within limit: Duration, closing: () -> Void
  ) async throws(TransportError) {
    isDraining.store(true, ordering: .sequentiallyConsistent)
    let end = ContinuousClock.now + Deadlines.bounded(limit)
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
    // Now the answers are sent, and later callers learn that there is no listener.
    try await flush(within: max(.zero, end - .now))
  }

  /// Waits until the other side knows what this process sent, and what it listens to.
  package func flush(within limit: Duration) async throws(TransportError) {
    try await transport.flush(within: limit)
  }
}

/// Why a call is refused.
package struct RefusedCall: Error {
  let refusal: RemoteRefusal
  let text: String

  package init(_ refusal: RemoteRefusal, _ text: String = "") {
    self.refusal = refusal
    self.text = text
  }
}
