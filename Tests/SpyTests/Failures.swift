import ForwardingTesting
import Foundation

/// Keeps the failures of spies, for tests of what they say.
final class Failures: SpyReporter, @unchecked Sendable {
  // SAFETY: the list is touched under the lock alone.
  private let lock = NSLock()
  private var list: [SpyFailure] = []

  func report(_ failure: SpyFailure) { lock.withLock { list.append(failure) } }

  var all: [SpyFailure] { lock.withLock { list } }
  var texts: [String] { all.map(\.description) }
  var lines: [Int] { all.map(\.place.line) }
}
