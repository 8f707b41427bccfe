import Dispatch
import Invocations

extension Deadlines {
  /// Waits for a while.
  static func pause(milliseconds: Int) async throws(RemoteError) {
    let end = OneAnswer()
    let number = shared.add(in: .milliseconds(milliseconds)) { end.finish(.success(nil)) }
    defer { shared.cancel(number) }
    _ = try await end.wait()
  }
}

extension DispatchTime {
  /// In a while, that may be as long as one likes.
  init(after limit: Duration) {
    let (seconds, attoseconds) = limit.components
    let nanoseconds = min(max(0, Double(seconds) * 1e9 + Double(attoseconds) / 1e9), 3.2e18)
    self.init(uptimeNanoseconds: DispatchTime.now().uptimeNanoseconds &+ UInt64(nanoseconds))
  }
}
