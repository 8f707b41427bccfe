// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import ForwardingTesting

/// Collects the failures of spies, so that tests can compare them.
final class Failures: SpyReporter {
  private let list = LockedValue<[SpyFailure]>([])

  func report(_ failure: SpyFailure) { list.withLock { $0.append(failure) } }

  var all: [SpyFailure] { list.withLock { $0 } }
  var texts: [String] { all.map(\.description) }
  var lines: [Int] { all.map(\.place.line) }
}
