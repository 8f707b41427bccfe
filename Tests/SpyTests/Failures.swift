import ForwardingTesting
import Synchronization

/// Keeps the failures of spies, for tests of what they say.
final class Failures: SpyReporter {
  private let list = Mutex<[SpyFailure]>([])

  func report(_ failure: SpyFailure) { list.withLock { $0.append(failure) } }

  var all: [SpyFailure] { list.withLock { $0 } }
  var texts: [String] { all.map(\.description) }
  var lines: [Int] { all.map(\.place.line) }
}
