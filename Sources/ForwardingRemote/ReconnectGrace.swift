// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations
import Synchronization

/// The time after an interruption in which other processes may not have reconnected yet. A call
/// that finds no listener in this time was not performed, so it is sent again for about as long.
final class ReconnectGrace: Sendable {
  typealias Heard = @Sendable (Result<[UInt8], TransportError>) -> Void

  /// The length of that time, in nanoseconds.
  private static let time: UInt64 = 2_000_000_000

  /// How often a call that began in this time is sent again. Attempts are counted, as a busy
  /// machine takes longer for each.
  static let tries = 100

  /// The end of that time, in nanoseconds of `DispatchTime`.
  private let end = Atomic<UInt64>(0)

  /// Notes that a connection broke or was restored.
  func begin() {
    end.store(DispatchTime.now().uptimeNanoseconds + Self.time, ordering: .relaxed)
  }

  /// The outcome of a call for which the transport reports an error. The error may be the first
  /// sign of an interruption.
  func failure(_ error: TransportError) -> OneShot.Outcome {
    if error == .interrupted || error == .unsent { begin() }
    return .failure(RemoteError(error))
  }

  var isGoingOn: Bool {
    let end = end.load(ordering: .relaxed)
    return end > 0 && DispatchTime.now().uptimeNanoseconds < end
  }

  /// The last known error of a call that ends between two attempts: at its deadline, that is
  /// `nobodyListens` if the last attempt found no listener.
  static func last(_ outcome: OneShot.Outcome, _ wasUnheard: Bool) -> OneShot.Outcome {
    if wasUnheard, case .failure(.timedOut) = outcome {
      return .failure(RemoteError(.nobodyListens))
    }
    return outcome
  }

  /// Passes all answers on, except `nobodyListens`, which finishes `unheard` instead.
  static func hearing(_ unheard: OneShot, _ answered: @escaping Heard) -> Heard {
    { result in
      if case .failure(.nobodyListens) = result { return unheard.finish(.success(nil)) }
      answered(result)
    }
  }

  /// Waits for an answer, or for the error `nobodyListens`. Returns true when it is time to
  /// send again.
  static func isUnheard(
    _ unheard: OneShot, _ answer: OneShot
  ) async throws(RemoteError) -> Bool {
    answer.onlyWhenFinished { unheard.finish(.failure(.timedOut)) }
    do throws(RemoteError) { _ = try await unheard.wait() } catch .timedOut { return false }
    let pause = OneShot()
    answer.onlyWhenFinished { pause.finish(.failure(.timedOut)) }
    let end = Deadlines.shared.add(at: .now() + .milliseconds(20)) { pause.finish(.success(nil)) }
    defer { Deadlines.shared.cancel(end) }
    do throws(RemoteError) { _ = try await pause.wait() } catch .timedOut {
      // At the deadline, the last known error is `nobodyListens`, unless the connection broke
      // since.
      if case .failure(.timedOut) = answer.outcome { throw RemoteError(.nobodyListens) }
      return false
    }
    return true
  }
}
