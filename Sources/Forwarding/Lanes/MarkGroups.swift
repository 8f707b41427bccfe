// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// All queue marks in the order of their creation, for finding the marks of the queues that a queue
/// targets.
///
/// Only a mark can tell whether a thread runs a block of its queue. To avoid asking each mark,
/// marks are in groups that are asked first: all queues of a group have a value for the group's
/// key.
struct MarkGroups {
  private var groups: [Group] = []
  /// The number of marks created so far, which is the number of the next mark.
  private(set) var end = 0
  /// The number of marks at which those that have ended are removed: twice the number left the last
  /// time.
  private var limit = 1024
  private var count = 0

  /// Consecutive marks, which the group references weakly.
  struct Group: Sendable {
    let key: DispatchSpecificKey<Bool>
    var references: [ObjectReference]
    /// The number of the newest mark.
    var last: Int

    static let size = 256

    /// Whether the current thread may run a block of one of the group's queues.
    var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }

    var marks: [QueueMark] { references.compactMap { $0.object as? QueueMark } }
  }

  /// Adds the mark with the next number. The caller sets a value for the returned key on its queue.
  mutating func add(_ mark: QueueMark) -> DispatchSpecificKey<Bool> {
    if count >= limit { sweep() }
    count += 1
    defer { end += 1 }
    let reference = ObjectReference(mark, isStrong: false)
    guard let index = groups.indices.last, groups[index].references.count < Group.size else {
      let key = DispatchSpecificKey<Bool>()
      groups.append(Group(key: key, references: [reference], last: end))
      return key
    }
    groups[index].references.append(reference)
    groups[index].last = end
    return groups[index].key
  }

  /// The groups with marks from `number` on. They may contain older marks too.
  func groups(from number: Int) -> ArraySlice<Group> {
    let start = groups.lastIndex { $0.last < number }.map { $0 + 1 } ?? groups.startIndex
    return groups[start...]
  }

  private mutating func sweep() {
    count = 0
    for index in groups.indices {
      groups[index].references.removeAll { $0.object == nil }
      count += groups[index].references.count
    }
    groups.removeAll { $0.references.isEmpty }
    limit = max(1024, 2 * count)
  }
}
