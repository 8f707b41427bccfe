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
