// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

extension Deadlines {
  /// Suspends the task for a time.
  ///
  /// - Throws: ``RemoteError/cancelled`` if the task is cancelled.
  static func pause(milliseconds: Int) async throws(RemoteError) {
    let end = OneShot()
    let number = shared.add(in: .milliseconds(milliseconds)) { end.finish(.success(nil)) }
    defer { shared.cancel(number) }
    _ = try await end.wait()
  }
}

extension DispatchTime {
  /// The time after a duration from now. Durations of more than about a century are shortened to
  /// that.
  init(after limit: Duration) {
    let (seconds, attoseconds) = limit.components
    let nanoseconds = min(max(0, Double(seconds) * 1e9 + Double(attoseconds) / 1e9), 3.2e18)
    self.init(uptimeNanoseconds: DispatchTime.now().uptimeNanoseconds &+ UInt64(nanoseconds))
  }
}
