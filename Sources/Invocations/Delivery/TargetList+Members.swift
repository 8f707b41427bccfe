// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

// The members of a list, in order, which their owner changes under its lock. They are stored in
// chunks, which the lists of deliveries share, so a change takes as long with a million members as
// with a hundred.
extension TargetList {
  /// Inserts a member, which is in no list, before the first member for which `isLower` is true.
  /// `isLower` must be false for a prefix of the list, and true for the rest.
  package func insert(_ member: ListedTarget, before isLower: (ListedTarget) -> Bool) {
    var position = chunkCount
    var index = 0
    if position > 0, unsafe isLower(lastMember(of: position - 1)) {
      position = Self.first(in: 0..<position) { unsafe isLower(lastMember(of: $0)) }
      index = Self.first(in: 0..<count(of: position)) {
        unsafe isLower(self.member($0, of: position))
      }
    }
    unsafe fwd_members_insert(
      members, position, index, Unmanaged.passRetained(member).toOpaque())
  }

  /// Removes a member, which must be in the list. Deliveries that hold older lists still reach it.
  package func remove(_ member: ListedTarget) {
    let taken = unsafe Unmanaged.passUnretained(member)
    unsafe fwd_members_remove(members, taken.toOpaque())
    // The caller retains the member, so no object dies here.
    unsafe taken.release()
  }

  /// All members, in order.
  ///
  /// - Complexity: O(*n*).
  package var all: [ListedTarget] {
    var all: [ListedTarget] = []
    all.reserveCapacity((0..<chunkCount).reduce(0) { $0 + count(of: $1) })
    for position in 0..<chunkCount { append(position, to: &all) }
    return all
  }

  /// The first member.
  package var first: ListedTarget? { chunkCount > 0 ? unsafe member(0, of: 0) : nil }

  /// Notes which of the members that were added since the last call are alive, so that they are not
  /// reported as unreached when they die later.
  package func meetNewcomers() {
    for position in 0..<chunkCount {
      let chunk = unsafe fwd_members_chunk(members, position)
      let (start, end) = (unsafe Int(chunk.pointee.new_from), count(of: position))
      guard start < end else { continue }
      unsafe chunk.pointee.new_from = .max
      for index in start..<end {
        let member = unsafe member(index, of: position)
        if member.isAlive { member.markReached() }
      }
    }
  }

  private func append(_ position: Int, to list: inout [ListedTarget]) {
    for index in 0..<count(of: position) {
      unsafe list.append(member(index, of: position))
    }
  }

  // MARK: Chunks

  private var chunkCount: Int { unsafe Int(members.pointee.count) }

  private func count(of position: Int) -> Int {
    unsafe Int(fwd_members_chunk(members, position).pointee.count)
  }

  @unsafe
  private func member(_ index: Int, of position: Int) -> ListedTarget {
    unsafe Unmanaged<ListedTarget>.fromOpaque(
      fwd_chunk_member(fwd_members_chunk(members, position), index)
    )
    .takeUnretainedValue()
  }

  @unsafe
  private func lastMember(of position: Int) -> ListedTarget {
    unsafe member(count(of: position) - 1, of: position)
  }

  /// The first number of a range for which `isTrue` returns true. It must return false for a prefix
  /// of the range, and true for the rest.
  private static func first(in range: Range<Int>, where isTrue: (Int) -> Bool) -> Int {
    var range = range
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if isTrue(middle) {
        range = range.lowerBound..<middle
      } else {
        range = middle + 1..<range.upperBound
      }
    }
    return range.lowerBound
  }
}
