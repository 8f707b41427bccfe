// SPDX-License-Identifier: Apache-2.0
public import Synchronization

/// Stands for the type of a discarded result.
@usableFromInline
enum DroppedResult {}

/// The types that one function was prepared for. Most functions are called with the same types
/// everywhere.
@usableFromInline
struct PreparedFunctions: ~Copyable, Sendable {
  /// The maximum number of prepared types, so that a search stays short.
  @usableFromInline static var limit: Int { 4 }

  private let kept = AtomicLazyReference<PreparedFunction>()
  // SAFETY: the address of `kept`. Reading it retains nothing, and it never changes once it is set.
  @usableFromInline let word = Atomic<UInt>(0)

  init() {}

  /// The first one, which lives as long as this structure.
  @inlinable @unsafe
  @inline(__always)
  var first: Unmanaged<PreparedFunction>? {
    unsafe UnsafeRawPointer(bitPattern: word.load(ordering: .acquiring)).map {
      unsafe Unmanaged.fromOpaque($0)
    }
  }

  /// Appends one, unless there are already `limit`.
  func add(_ made: PreparedFunction, depth: Int = 1) {
    let known = kept.storeIfNil(made)
    if known === made {
      unsafe word.store(
        UInt(bitPattern: Unmanaged.passUnretained(made).toOpaque()), ordering: .releasing)
    } else if depth < Self.limit {
      known.others.add(made, depth: depth + 1)
    }
  }
}
