// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

/// Waits on a plain thread for the value of a task. After half an hour it throws an error that
/// names the value.
func awaited<Value: Sendable>(
  _ what: String, _ body: @escaping @Sendable () async throws -> Value
) throws -> Value {
  let isDone = DispatchSemaphore(value: 0)
  let result = Guarded<Result<Value, any Error>?>(nil)
  let task = Task {
    do {
      let value = try await body()
      result.withLock { $0 = .success(value) }
    } catch {
      result.withLock { $0 = .failure(error) }
    }
    isDone.signal()
  }
  try wait(for: isDone, what) { task.cancel() }
  guard let known = result.read({ $0 }) else {
    throw FuzzFinding(description: "\(what) ends with nothing")
  }
  return try known.get()
}

/// Waits for at most half an hour: the tasks of a whole test run may run first.
func wait(
  for signal: DispatchSemaphore, _ what: String, else giveUp: () -> Void = {}
) throws {
  if signal.wait(timeout: .now() + 1800) == .success { return }
  giveUp()
  throw FuzzFinding(description: "\(what) does not end within half an hour")
}
