#if NATS
  import ForwardingRemote
  import Invocations

  /// Answers that wait for the connection to be there again: whoever asked may have kept its own. Requests never wait so,
  /// as nobody would know how long they did.
  final class HeldAnswers: Sendable {
    private struct State {
      var answers: [(payload: [UInt8], subject: String)] = []
      var bytes = 0
    }

    /// The most bytes that wait; what is more is let go.
    private static let bytes = 8 << 20
    private let state = Guarded(State())

    /// Sends an answer, now or later.
    func send(_ payload: [UInt8], to subject: String, _ connection: NATSConnection) {
      do throws(TransportError) {
        try connection.publish(payload, to: subject, answerTo: nil)
      } catch .interrupted {
        hold(payload, subject)
        // The connection may be there again, with nobody left who would say so.
        if connection.isConnected { sendAll(connection) }
      } catch {
        // Who asked waits no longer than its deadline.
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

    /// Sends what waits.
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
          // As above.
        }
      }
    }
  }
#endif
