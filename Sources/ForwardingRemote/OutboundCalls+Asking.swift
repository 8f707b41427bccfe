// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// A call whose answer is awaited.
struct AskedCall: ~Copyable {
  fileprivate let number: UInt64
  /// The subject; nil if it is that of the link.
  fileprivate let other: RemoteSubject?
  fileprivate let message: [UInt8]
  fileprivate let end: DispatchTime
  fileprivate let answer: OneShot
  /// The first attempt; nil if it is not made yet.
  fileprivate var first: FirstAttempt?
  /// Nil while the call has to wait for it.
  var outcome: OneShot.Outcome?
}

/// A first attempt to send a request, which is nil if there was no connection.
struct FirstAttempt {
  let request: (any TransportRequest)?
}

// A call has three steps, and only the second one suspends. A host in this process has mostly
// answered after the first one, so that the second one is left out.
extension OutboundCalls {
  /// Sends a call, and awaits its one answer. If the task is cancelled, the host is notified.
  package func ask(
    _ call: [UInt8], of other: RemoteSubject
  ) async throws(RemoteError) -> [UInt8] {
    var call = try begin(behindRoom: RemoteRequest.room + call, of: other)
    if call.outcome == nil { call.outcome = await outcome(of: call) }
    return try Array(end(call))
  }

  /// Sends a call behind room for the header.
  func begin(
    behindRoom message: consuming [UInt8], of other: RemoteSubject? = nil
  ) throws(RemoteError) -> AskedCall {
    let request = request(.asked)
    request.write(to: &message)
    let (now, end) = try enter(within: nil)
    // After an interruption, each attempt is awaited.
    let isTried =
      !settling.isGoingOn && RemoteRequest.setTimeLeft(from: now, until: end, in: &message)
    let answer = OneShot(
      OneShot.Asked(number: request.number, end: end, counts: counts, settling: settling))
    var call = AskedCall(
      number: request.number, other: other, message: message, end: end, answer: answer)
    guard isTried else { return call }
    do throws(RemoteError) {
      let sent = try attempt(call.message, to: other ?? subject) { answer.take($0) }
      call.outcome = answer.outcomeIfSent
      if call.outcome == nil { call.first = FirstAttempt(request: sent) } else { sent?.end() }
    } catch {
      call.outcome = .failure(error)
    }
    return call
  }

  /// Awaits the outcome of a call.
  nonisolated(nonsending) func outcome(of call: borrowing AskedCall) async -> OneShot.Outcome {
    let answer = call.answer
    do throws(RemoteError) {
      return .success(
        try await send(
          call.message, to: call.other ?? subject, answer, until: call.end,
          atEnd: .failure(.timedOut),
          after: call.first
        ) { answer.take($0) })
    } catch {
      return .failure(error)
    }
  }

  /// Counts a call out, and returns its result.
  func end(_ call: consuming AskedCall) throws(RemoteError) -> ArraySlice<UInt8> {
    switch call.outcome {
    case .success(let known?):
      if known.kind == .refused { leave(counts.refusals) } else { leave(counts.answered) }
      meet(known.host)
      do throws(RemoteError) { return try known.result() } catch .refused(.expired, _) {
        throw .timedOut
      }
    case .failure(let error):
      leave(counts.failed)
      if case .cancelled = error { cancel(call.number, of: call.other ?? subject) }
      throw error == RemoteError(.nobodyListens) ? (call.other ?? subject).unheard : error
    case .success(nil), nil:
      leave(counts.failed)
      throw .timedOut
    }
  }
}
