// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingWire
import Invocations

/// The sending side of remote calls.
///
/// A call that was sent is never sent again: it ends with its answer, at its deadline, or at once
/// when its connection breaks. A call that finds no connection was not performed, and is tried again
/// until its deadline.
final class OutboundCalls: Sendable {
  struct State: Sendable {
    var deadline: Duration
    /// The most calls in flight.
    var limit = 1000
    fileprivate(set) var inFlight = 0
    fileprivate(set) var counts = RemoteStatistics()
  }

  let subject: RemoteSubject
  private let transport: any Transport
  let state: Guarded<State>

  init(_ transport: any Transport, _ subject: RemoteSubject, deadline: Duration) {
    self.transport = transport
    self.subject = subject
    state = Guarded(State(deadline: deadline))
  }

  // MARK: Calls

  /// Sends a call without an answer. The message has room for the header in front of the call.
  func tell(behindRoom message: consuming [UInt8]) throws(RemoteError) {
    RemoteRequest(.told, number: .random(in: 0 ... .max)).write(to: &message)
    // Before it is sent, as its receiver may look at the counts.
    state.withLockInPlace { $0.counts.told += 1 }
    do throws(TransportError) { try transport.publish(message, to: subject) } catch {
      state.withLockInPlace { $0.counts.told -= 1 }
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
    leave(found?.kind == .refused ? \.refused : \.answered)
    do throws(RemoteError) { return try found?.result() ?? [] } catch .refused(.expired, _) {
      throw .timedOut
    }
  }

  /// Sends a call, and returns the answers: one of each host, up to a count or until the time is
  /// over. Then hosts that have not answered are told that no one waits.
  nonisolated(nonsending) func askAll(
    behindRoom message: consuming [UInt8], expecting count: Int, within limit: Duration?
  ) async throws(RemoteError) -> [RemoteAnswer] {
    let call = try enter(within: limit)
    RemoteRequest(.asked, number: call.number).write(to: &message)
    let heard = Guarded(Heard())
    _ = try await send(message, call, atEnd: .success(nil)) { [state] answer in
      let (isStrange, isEnough) = heard.withLockInPlace { heard in
        let isStrange = heard.answers.count < count && !heard.admit(answer)
        return (isStrange, heard.answers.count >= count)
      }
      if isStrange { state.withLockInPlace { $0.counts.strange += 1 } }
      return isEnough ? .success(nil) : nil
    }
    cancel(call)
    let answers = heard.read { $0.answers }
    leave(answers.isEmpty ? \.failed : \.answered)
    return answers
  }

  /// The answers of all hosts to one request, limited in all.
  private struct Heard {
    private(set) var answers: [RemoteAnswer] = []
    private var hosts: Set<UInt64> = []
    /// The bytes of the answers, with a kilobyte more for each.
    private var bytes = 0

    mutating func admit(_ answer: RemoteAnswer) -> Bool {
      let cost = answer.bytes.count + 1024
      guard bytes + cost <= 64 << 20, hosts.insert(answer.host).inserted else { return false }
      bytes += cost
      answers.append(answer)
      return true
    }
  }

  // MARK: The way of a call

  /// A call that is counted as in flight.
  private struct Call {
    /// Random, so that a host that has seen one cannot forge the next.
    let number = UInt64.random(in: 0 ... .max)
    let end: DispatchTime
  }

  /// Counts a call in.
  private func enter(within limit: Duration?) throws(RemoteError) -> Call {
    // Sent to a host in this process, the call would be performed before it is cancelled.
    let isCancelled = Task.isCancelled
    let deadline = try state.withLockInPlace { (state) throws(RemoteError) in
      state.counts.asked += 1
      if isCancelled {
        state.counts.failed += 1
        throw .cancelled
      }
      if state.inFlight >= state.limit {
        state.counts.refused += 1
        throw .congested(limit: state.limit)
      }
      state.inFlight += 1
      return state.deadline
    }
    return Call(end: Deadlines.time(after: limit ?? deadline))
  }

  /// Counts a call out, in the count of its outcome.
  private func leave(_ count: WritableKeyPath<RemoteStatistics, Int>) {
    state.withLockInPlace { state in
      state.inFlight -= 1
      state.counts[keyPath: count] += 1
    }
  }

  /// Notifies the hosts that the sender of a call no longer waits.
  private func cancel(_ call: Call) {
    // Not to the subject of calls: there one member of a group gets it, maybe not the right one.
    try? transport.publish(RemoteRequest(.cancel, number: call.number).bytes, to: subject.cancels)
  }

  /// Sends a request, and awaits what the closure makes of an answer, the deadline, or the
  /// cancellation of the task. Counts the call out if that throws.
  private nonisolated(nonsending) func send(
    _ message: consuming [UInt8], _ call: Call, atEnd: OneShot.Outcome,
    _ heard: @escaping @Sendable (RemoteAnswer) -> OneShot.Outcome?
  ) async throws(RemoteError) -> RemoteAnswer? {
    var pause = 5
    do throws(RemoteError) {
      while RemoteRequest.setTimeLeft(until: call.end, in: &message) {
        let outcome = OneShot()
        if let sent = try attempt(message, call, outcome, heard) {
          defer { sent.end() }
          return try await outcome.wait(until: call.end, atEnd: atEnd).get()
        }
        // Nothing was sent: the call waits for a connection.
        let next = min(.now() + .milliseconds(pause), call.end)
        _ = try await OneShot().wait(until: next, atEnd: .success(nil)).get()
        pause = min(2 * pause, 160)
      }
      return try atEnd.get()
    } catch {
      if error == .cancelled { cancel(call) }
      leave(\.failed)
      throw error
    }
  }

  /// Sends a request once. Returns nil if there is no connection.
  private func attempt(
    _ message: [UInt8], _ call: Call, _ outcome: OneShot,
    _ heard: @escaping @Sendable (RemoteAnswer) -> OneShot.Outcome?
  ) throws(RemoteError) -> (any TransportSubscription)? {
    do throws(TransportError) {
      return try transport.request(message, to: subject) { [state, subject] result in
        switch result {
        case .failure(.nobodyListens): outcome.finish(.failure(subject.unheard))
        case .failure(let error): outcome.finish(.failure(RemoteError(error)))
        case .success(let bytes):
          guard let answer = RemoteAnswer(bytes, to: call.number) else {
            return state.withLockInPlace { $0.counts.strange += 1 }
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
