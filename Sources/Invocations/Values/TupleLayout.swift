// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// How the arguments of a call move between a Swift tuple and a frame, determined once per plan.
///
/// A parameter pack is walked at run time, with a call for each argument. A tuple of the same types
/// costs one store for each argument, and C moves its words by the list of `moves`.
@safe
@usableFromInline
package final class TupleLayout: @unchecked Sendable {
  // SAFETY: allocated and filled in `init`, freed in `deinit`, only read in between.
  @usableFromInline let moves: UnsafeMutablePointer<FWDMove>
  @usableFromInline let count: Int

  /// Whether all values are words and none is an address, so that a tuple can also be read from a
  /// frame.
  @usableFromInline let isWords: Bool

  /// Whether all values are full words, neither widened nor addresses.
  let areWhole: Bool

  /// Finds the moves for the arguments of a plan. Returns nil if a type converts its own values, or
  /// if the arguments take no memory.
  ///
  /// - Parameter onlyStores: whether no tuple is read from a frame. Pointers, which are checked when
  ///   they are read, then are words, and strings in the places of C strings have moves.
  @usableFromInline
  package init?<Value, each Argument>(
    _ fitted: FittedPlan<Value, repeat each Argument>, onlyStores: Bool = false
  ) {
    var found: [FWDMove] = []
    var offset = 0
    var isWords = true
    func move<Moved>(_ type: Moved.Type) -> FWDMove? {
      let place = fitted.arguments[found.count]
      let alignment = MemoryLayout<Moved>.alignment
      offset = (offset + alignment - 1) / alignment * alignment
      let word: FWDKind
      switch place.content {
      case .word(let known): word = known
      case .object: (word, isWords) = (.uInt64, false)
      case .address:
        (word, isWords) = (MemoryLayout<Moved>.size == 0 ? .nothing : .swiftValue, false)
      case .text: (word, isWords) = (.cString, false)
      case .converted(let type) where onlyStores && !place.isPromoted(in: fitted.plan):
        // SAFETY: the facts are only read.
        if unsafe type._callFacts(0).zero == .isMissingInMemory {
          word = .uInt64
        } else if type == String.self || type == String?.self {
          (word, isWords) = (.cString, false)
        } else {
          return nil
        }
      case .converted, .nothing: return nil
      }
      guard offset <= UInt16.max else { return nil }
      defer { offset += MemoryLayout<Moved>.size }
      return FWDMove(frame: place.offset, tuple: UInt16(offset), word: word)
    }
    for type in repeat (each Argument).self {
      guard let move = move(type) else { return nil }
      found.append(move)
    }
    // A tuple without a size has no address either.
    if offset == 0, !found.isEmpty { return nil }
    self.isWords = isWords
    areWhole = found.allSatisfy { $0.word == .uInt64 }
    count = found.count
    unsafe moves = .allocate(capacity: max(1, count))
    unsafe moves.initialize(from: found, count: count)
  }

  deinit { unsafe moves.deallocate() }

  /// Reads the arguments from a frame of the plan.
  @inlinable
  @inline(__always)
  func load<Tuple>(as type: Tuple.Type, from frame: FrameReference) -> Tuple {
    unsafe withUnsafeTemporaryAllocation(of: Tuple.self, capacity: 1) { memory in
      // SAFETY: the allocation has room for one tuple, and the moves, which were made for its type,
      // fill all of it.
      let base = unsafe memory.baseAddress.unsafelyUnwrapped
      unsafe fwd_tuple_load(moves, count, base, frame.base)
      return unsafe base.move()
    }
  }
}
