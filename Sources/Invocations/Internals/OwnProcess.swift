import CForwardingShims

/// The process that something was made in. A child that is forked has all memory of its parent, but not its threads, and
/// what the system keeps for the parent is not its own to use.
package struct OwnProcess: Sendable {
  private let forks = fwd_fork_count()

  package init() {}

  /// Whether this runs in a child of that process.
  package var isForked: Bool { fwd_fork_count() != forks }

  /// Whether this process was forked from one that used the package.
  package static var isChild: Bool { fwd_fork_count() > 0 }
}
