// SPDX-License-Identifier: Apache-2.0
// Targets that a face calls on their queues.
extension FaceDelivery {
  /// The outcome of a turn, with the answer.
  @usableFromInline
  enum Turn<Result> {
    case answered(Result)
    /// The call was enqueued.
    case queued
    /// The target did not answer, or has failed.
    case over
  }

  /// The outcome of a turn on a queue, with the answer.
  @usableFromInline
  enum TurnOnQueue<Result> {
    case answered(Result)
    /// The call was enqueued.
    case queued
    /// The target left out the requirement.
    case over
    /// The target threw, or the wait would never end.
    case failed(any Error)
    /// The target needs a message.
    case message
  }

  /// Calls a target on its queue, synchronously or later.
  @inlinable @unsafe
  @inline(never)
  static func callOnQueue<Target, Result, Failure: Error>(
    at place: UnsafePointer<UnsafeRawPointer>, _ targets: FaceTargets, _ index: Int,
    _ selector: () -> Selector, isOptional: Bool,
    _ direct: (borrowing FaceTarget<Target>) throws(Failure) -> Result,
    _ later: (inout QueuedCall) -> Void
  ) -> TurnOnQueue<Result> {
    var result: Result?
    let turn = unsafe callOnQueue(
      at: place, targets, index, selector(), isOptional: isOptional, later
    ) { words in
      // SAFETY: a value of a protocol for objects is the object and the table.
      result = try unsafe direct(words.assumingMemoryBound(to: FaceTarget<Target>.self).pointee)
    }
    switch turn {
    case .answered: return result.map { .answered($0) } ?? .over
    case .queued: return .queued
    case .over: return .over
    case .failed(let error): return .failed(error)
    case .message: return .message
    }
  }

  @usableFromInline @unsafe
  static func callOnQueue(
    at place: UnsafePointer<UnsafeRawPointer>, _ targets: FaceTargets, _ index: Int,
    _ selector: Selector, isOptional: Bool, _ later: (inout QueuedCall) -> Void,
    _ call: (UnsafeRawPointer) throws -> Void
  ) -> QueueTurn {
    guard let lane = unsafe FaceLane(place, targets, index) else { return .message }
    guard lane.waits else {
      return lane.isGiven(later, selector, isOptional: isOptional) ? .queued : .message
    }
    let turn = unsafe lane.callWaiting(isOptional ? selector : nil, call)
    if case .over = turn { unsafe noteLeftOut(selector, at: place) }
    return turn
  }
}
