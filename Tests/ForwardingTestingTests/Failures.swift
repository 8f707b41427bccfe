// SPDX-License-Identifier: Apache-2.0
import ForwardingTesting
import Foundation

/// Collects the failures of spies, so that tests can compare them.
final class Failures: SpyReporter, @unchecked Sendable {
  // SAFETY: the list is accessed only under the lock.
  private let lock = NSLock()
  private var list: [SpyFailure] = []

  func report(_ failure: SpyFailure) { lock.withLock { list.append(failure) } }

  var all: [SpyFailure] { lock.withLock { list } }
  var texts: [String] { all.map(\.description) }
  var lines: [Int] { all.map(\.place.line) }
}
