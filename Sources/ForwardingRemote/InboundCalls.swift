// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import Invocations

/// The receiving side of remote calls: performs a limited number at a time, and answers each.
///
/// A call that does not suspend is performed on the thread that receives it. A call that suspends
/// has a task.
final class InboundCalls: Sendable {
  /// What a host sets for its calls.
  struct Limits: Sendable {
    var calls = 1000
    /// The most bytes of all these calls.
    var bytes = 16 << 20
    /// How long a call may take, whatever its caller says.
    var time = Duration.seconds(600)
  }

  private struct State {
    var limits = Limits()
    /// The calls that count towards the limit, and their bytes: those in progress, and those that
    /// have ended but are still in a lane, with their arguments.
    var places = 0
    var bytes = 0
    /// The calls without an answer yet, which draining waits for.
    var unanswered = 0
    var isDraining = false
    var counts = RemoteStatistics()
  }

  /// A random number by which others tell hosts of one name apart.
  let number = UInt64.random(in: 1 ... .max)
  private let transport: any Transport
  private let state = Guarded(State())
  private let open = InFlightCalls()
  private let watch: (any TransportSubscription)?

  init(_ transport: any Transport) {
    self.transport = transport
    watch = (transport as? UnixSocketTransport)?.ends.add { [open] connection in
      open.cancel { $0.connection == connection }
    }
  }

  deinit { watch?.end() }

  var limits: Limits {
    get { state.read { $0.limits } }
    set { state.withLock { $0.limits = newValue } }
  }

  var statistics: RemoteStatistics { state.read { $0.counts } }

  private func count(_ kind: WritableKeyPath<RemoteStatistics, Int>) {
    state.withLockInPlace { $0.counts[keyPath: kind] += 1 }
  }

  /// A call that has a place.
  private struct Taken: Sendable {
    let request: RemoteRequest
    let message: TransportMessage
    /// When its caller stops waiting; nil if that is not known.
    let callerEnd: DispatchTime?
    /// When the host ends it.
    let end: DispatchTime
  }

  /// Receives a message to an exposed object.
  func receive(_ message: TransportMessage, for exposure: Exposure) {
    let request: RemoteRequest
    do throws(RemoteRefusal) { request = try RemoteRequest(message.payload) } catch {
      count(\.strange)
      return refuse(message, error)
    }
    if request.kind == .cancel {
      // Cancels have their own subject. Here, only one member of a group would receive them.
      count(\.strange)
      return refuse(message, .malformed)
    }
    let taken: Taken
    do throws(RemoteRefusal) { taken = try take(request, message) } catch {
      // A call that is not awaited has no answer, even if the message names a subject for one.
      if request.kind == .asked { return refuse(message, error) }
      return count(\.refused)
    }
    let call: Exposure.Received
    do throws(RefusedCall) { call = try exposure.read(request, message) } catch {
      return finish(taken, nil, .refused(error.refusal, error.text, host: number))
    }
    if let answer = exposure.performAtOnce(call) { return finish(taken, nil, answer) }
    let inFlight = InFlightCall(request.key(of: message.sender), message.connection)
    open.begin(inFlight)
    let timer = Deadlines.shared.add(at: taken.end) { inFlight.cancel() }
    inFlight.begin(
      exposure.perform(call) { [self] answer in
        Deadlines.shared.cancel(timer)
        open.end(inFlight)
        // An error after the end of the time is a result of the cancellation, not the target's own.
        let isExpired = answer.kind == .failed && DispatchTime.now() >= taken.end
        finish(taken, call.stay, isExpired ? .refused(.expired, "", host: number) : answer)
      })
  }

  /// Gives a call a place.
  ///
  /// - Throws: ``RemoteRefusal/draining`` or ``RemoteRefusal/busy``.
  private func take(
    _ request: RemoteRequest, _ message: TransportMessage
  ) throws(RemoteRefusal) -> Taken {
    let size = message.payload.count
    let limits = try state.withLockInPlace { (state) throws(RemoteRefusal) in
      if state.isDraining { throw .draining }
      // A call that is longer than the limit comes alone: it would be refused forever.
      let hasRoom = state.bytes == 0 || state.bytes + size <= state.limits.bytes
      guard state.places < state.limits.calls, hasRoom else { throw .busy }
      state.places += 1
      state.bytes += size
      state.unanswered += 1
      if request.kind == .asked { state.counts.asked += 1 } else { state.counts.told += 1 }
      return state.limits
    }
    let end = Deadlines.time(after: limits.time)
    guard request.kind == .asked, request.milliseconds > 0 else {
      return Taken(request: request, message: message, callerEnd: nil, end: end)
    }
    let callerEnd = DispatchTime.now() + .milliseconds(Int(request.milliseconds))
    return Taken(
      request: request, message: message, callerEnd: callerEnd, end: min(callerEnd, end))
  }

  /// Counts a call out, and answers its caller if that still waits. A call that is still in a lane
  /// keeps its place until then.
  private func finish(_ taken: Taken, _ stay: LaneStay?, _ answer: consuming RemoteAnswer) {
    if let refusal = beyondLimit(answer) { answer = refusal }
    switch answer.kind {
    case .answered: count(\.answered)
    case .failed: count(\.failed)
    case .refused: count(\.refused)
    }
    let size = taken.message.payload.count
    let free: @Sendable () -> Void = { [state] in
      state.withLockInPlace { state in
        state.places -= 1
        state.bytes -= size
      }
    }
    if let stay { stay.whenOver(free) } else { free() }
    if taken.request.kind == .asked, taken.callerEnd.map({ .now() < $0 }) ?? true {
      reply(answer, to: taken.message)
    }
    state.withLockInPlace { $0.unanswered -= 1 }
  }

  /// Receives a message on the subject of cancels. All other messages are refused, as the
  /// permission to publish there is not a permission to call.
  ///
  /// Only a call of the same peer is cancelled, and only its caller and its hosts know the number.
  func cancel(_ message: TransportMessage) {
    guard let request = try? RemoteRequest(message.payload), request.kind == .cancel,
      request.call.isEmpty
    else {
      count(\.strange)
      return refuse(message, .malformed)
    }
    let key = request.key(of: message.sender)
    open.cancel { $0.key == key }
  }

  // MARK: Answers

  /// Refuses a message, whatever it contains.
  private func refuse(_ message: TransportMessage, _ refusal: RemoteRefusal) {
    count(\.refused)
    reply(.refused(refusal, "", host: number), to: message)
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
  func drain(within limit: Duration, closing: () -> Void) async throws(TransportError) {
    state.withLockInPlace { $0.isDraining = true }
    let end = ContinuousClock.now + Deadlines.bounded(limit)
    var isInTime = true
    while isInTime, state.read({ $0.unanswered > 0 }) {
      isInTime = ContinuousClock.now < end
      do { try await Task.sleep(for: .milliseconds(1)) } catch { isInTime = false }
    }
    closing()
    guard isInTime else { throw .timedOut }
    // Now the answers are sent, and later callers learn that there is no listener.
    try await transport.flush(within: max(.zero, end - .now))
  }
}

/// Why a call is refused.
struct RefusedCall: Error {
  let refusal: RemoteRefusal
  let text: String

  init(_ refusal: RemoteRefusal, _ text: String = "") {
    self.refusal = refusal
    self.text = text
  }
}
