// SPDX-License-Identifier: Apache-2.0
public import CForwardingShims

/// A position in a list that is kept.
@usableFromInline
typealias MemberPlace = UnsafePointer<UnsafeRawPointer>

@usableFromInline @unsafe
func member(at place: MemberPlace) -> ListedTarget {
  unsafe Unmanaged<ListedTarget>.fromOpaque(place.pointee).takeUnretainedValue()
}

/// The walk of a delivery over the targets of a list: a *snapshot*, which the delivery keeps.
///
/// A delivery on one thread holds the list (a *hazard pointer*), one that may end on another thread counts it.
@safe
@frozen
@usableFromInline
struct TargetWalk {
  // SAFETY: a variable of the delivery that keeps the list.
  @usableFromInline let list: UnsafePointer<FWDTargetList>
  @usableFromInline var place: MemberPlace
  @usableFromInline let end: MemberPlace

  @inlinable @unsafe
  @inline(__always)
  init(_ list: UnsafePointer<FWDTargetList>) {
    unsafe self.list = list
    unsafe place = fwd_list_first(list)
    unsafe end = place + list.pointee.count
  }

  /// The place of the next target; nil after the last one.
  @inlinable
  @inline(__always)
  mutating func next() -> MemberPlace? {
    if unsafe place == end { return nil }
    defer { unsafe place += 1 }
    return unsafe place
  }
}
