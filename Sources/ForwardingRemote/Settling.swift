import Dispatch
import Invocations
import Synchronization

/// The time after an interruption, in which others may not have come back: that nobody listens is no last word then. Such
/// a call was performed by nobody, and may be sent again, for about as long.
final class Settling: Sendable {
  typealias Heard = @Sendable (Result<[UInt8], TransportError>) -> Void

  /// How long it takes, in nanoseconds.
  private static let time: UInt64 = 2_000_000_000

  /// How often a call is sent again that began in this time: counted, as a busy machine takes longer for each.
  static let tries = 100

  /// Its end, as a time of `DispatchTime`.
  private let end = Atomic<UInt64>(0)

  /// Notes that a connection broke, or is there again.
  func begin() {
    end.store(DispatchTime.now().uptimeNanoseconds + Self.time, ordering: .relaxed)
  }

  /// What a call ends with that the transport did not carry. One may hear of an interruption by that before all others do.
  func failure(_ error: TransportError) -> OneAnswer.Outcome {
    if error == .interrupted || error == .unsent { begin() }
    return .failure(RemoteError(error))
  }

  var isGoingOn: Bool {
    let end = end.load(ordering: .relaxed)
    return end > 0 && DispatchTime.now().uptimeNanoseconds < end
  }

  /// Takes answers, but for the word that nobody listens.
  static func hearing(_ unheard: OneAnswer, _ answered: @escaping Heard) -> Heard {
    { result in
      if case .failure(.nobodyListens) = result { return unheard.finish(.success(nil)) }
      answered(result)
    }
  }

  /// Waits until there is an answer, or the word that nobody listens: true when it is time to send again.
  static func isUnheard(
    _ unheard: OneAnswer, _ answer: OneAnswer
  ) async throws(RemoteError) -> Bool {
    answer.onlyWhenFinished { unheard.finish(.failure(.timedOut)) }
    do throws(RemoteError) { _ = try await unheard.wait() } catch .timedOut { return false }
    let pause = OneAnswer()
    answer.onlyWhenFinished { pause.finish(.failure(.timedOut)) }
    let end = Deadlines.shared.add(at: .now() + .milliseconds(20)) { pause.finish(.success(nil)) }
    defer { Deadlines.shared.cancel(end) }
    do throws(RemoteError) { _ = try await pause.wait() } catch .timedOut {
      // When the time is over, what was heard last is what is known; not where the connection broke meanwhile.
      if case .failure(.timedOut) = answer.outcome { throw RemoteError(.nobodyListens) }
      return false
    }
    return true
  }
}
