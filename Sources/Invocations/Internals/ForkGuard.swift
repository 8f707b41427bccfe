// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The process in which a value was made. A forked child has a copy of its parent's memory, but not
/// the parent's threads, and must not use system resources of the parent.
package struct ForkGuard: Sendable {
  private let process = getpid()

  package init() {}

  /// Whether the current process is a child of that process.
  package var isForked: Bool { getpid() != process }
}
