import Dispatch

/// All marks of queues, in the order in which they were made, so that a queue finds those of the queues behind it.
///
/// Nothing but each mark itself can say whether a thread is inside of its queue. So that not all must be asked, they
/// stand in groups that can be asked first: all queues of a group have a value for its key.
struct MarkGroups {
  private var groups: [Group] = []
  /// How many marks have been made: the number of the next one.
  private(set) var end = 0
  /// How many marks there may be before those that have ended are looked for, twice as many as were left then.
  private var limit = 1024
  private var count = 0

  /// Some marks, in their order, which do not keep them.
  struct Group: Sendable {
    let key: DispatchSpecificKey<Bool>
    var references: [ObjectReference]
    /// The number of the newest.
    var last: Int

    static let size = 256

    /// Whether the current thread may be inside of a queue of the group.
    var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }

    var marks: [QueueMark] { references.compactMap { $0.object as? QueueMark } }
  }

  /// Adds the mark that has the next number. Its queue needs a value for the key that this returns.
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

  /// The groups that have marks from a number on, and perhaps older ones.
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
