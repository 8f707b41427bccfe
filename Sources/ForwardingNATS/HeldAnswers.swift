// SPDX-License-Identifier: Apache-2.0
#if NATS
  import ForwardingRemote
  import Invocations

  /// Answers that wait until the connection is restored, as their callers may still be connected.
  /// Requests never wait in this way, as their senders would not know for how long.
  final class HeldAnswers: Sendable {
    private struct State {
      var answers: [(payload: [UInt8], subject: String)] = []
      var bytes = 0
    }

    /// The most bytes that wait; further answers are dropped.
    private static let bytes = 8 << 20
    private let state = Guarded(State())

    /// Sends an answer, now or when the connection is restored.
    func send(_ payload: [UInt8], to subject: String, _ connection: NATSConnection) {
      do throws(TransportError) {
        try connection.publish(payload, to: subject, answerTo: nil)
      } catch .interrupted {
        hold(payload, subject)
        // The connection may have been restored before the answer was held; that is not reported
        // again.
        if connection.isConnected { sendAll(connection) }
      } catch {
        // The caller waits up to its deadline.
      }
    }

    private func hold(_ payload: [UInt8], _ subject: String) {
      state.withLockInPlace { state in
        let size = payload.count + subject.utf8.count
        guard state.bytes + size <= Self.bytes else { return }
        state.bytes += size
        state.answers.append((payload, subject))
      }
    }

    /// Sends the answers that wait.
    func sendAll(_ connection: NATSConnection) {
      let answers = state.withLock { state in
        defer { state = State() }
        return state.answers
      }
      for answer in answers {
        do throws(TransportError) {
          try connection.publish(answer.payload, to: answer.subject, answerTo: nil)
        } catch .interrupted {
          hold(answer.payload, answer.subject)
        } catch {
          // The caller waits up to its deadline.
        }
      }
    }
  }
#endif
