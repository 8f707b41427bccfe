import CForwardingShims

/// A message of a face on its way: to a proxy, or to one of the targets that the face does not call directly.
///
/// Faces are written by `@Forwardable`; nothing else needs this.
///
/// ```swift
/// let close = Requirement<Void, Int>("close:")
/// var delivery = FaceDelivery(to: MulticastProxy())
/// try FaceMessage.send(close, 5, through: &delivery)
/// ```
@safe
@frozen
public struct FaceDelivery {
  // SAFETY: a variable of the function that delivers, which holds the list and its members.

  /// Where the message goes.
  @safe
  @usableFromInline
  enum Destination {
    /// To the proxy, as any message.
    case proxy
    /// To a target that takes messages.
    case target(UnsafePointer<UnsafeRawPointer>)
    /// To no target: all had their turn, and none has answered.
    case end
  }

  @usableFromInline let proxy: AnyObject
  @usableFromInline let owner: FaceOwner?
  @usableFromInline var destination = Destination.proxy
  /// The number of the message; 0 until there is one.
  @usableFromInline var message: UInt64 = 0
  /// What came of the targets that had their turn.
  @usableFromInline var tally = TargetList.Tally()

  /// Makes a message to a proxy.
  public init(to proxy: AnyObject) {
    unsafe self.init(FaceTargets(nil, of: nil, for: type(of: proxy)), proxy)
  }

  @inlinable @unsafe
  package init(_ targets: FaceTargets, _ proxy: AnyObject) {
    self.proxy = proxy
    owner = targets.owner
  }

  /// Sends the message whose arguments are set. Where this returns, the call has the answer.
  @usableFromInline
  @inline(never)
  mutating func send(_ call: Call, _ selector: Selector) throws {
    switch destination {
    case .proxy:
      message = fwd_next_face_message()
      unsafe call.state.pointee.message = message
      try call.send(compared: selector, to: proxy)
    case .target(let place):
      let before = tally.answered
      call.setSelector(selector)
      unsafe call.state.pointee.message = message
      unsafe send(call, to: place)
      if tally.answered == before, call.returnsValue { throw NotAnswered.error }
    case .end:
      call.setSelector(selector)
      unsafe call.state.pointee.message = message
      call.isTargetLent = true
      try owner?.proxy.answer(call, for: tally)
    }
  }

  /// What a target answers that does not.
  @usableFromInline
  struct NotAnswered: Error {
    static let error: any Error = NotAnswered()
  }

  private mutating func send(_ call: Call, to place: MemberPlace) {
    call.isTargetLent = true
    if unsafe sendQuickly(call, to: place) { return }
    owner?.proxy.deliver(call, to: unsafe member(at: place), &tally)
  }

  /// Performs the method that the class of an ordinary target is known to have; false where there is more to do.
  private mutating func sendQuickly(_ call: Call, to place: MemberPlace) -> Bool {
    let taken = unsafe fwd_target_retain(fwd_target_of(place.pointee))
    guard let object = unsafe taken.object else { return false }
    defer { unsafe fwd_target_release(taken) }
    call.receiverWord = UInt64(UInt(bitPattern: object))
    defer { call.receiverWord = 0 }
    var isPerformed = true
    do {
      try unsafe call.performKnownMethod(
        of: BorrowedObject(object), call.selectorWord, isKept: false
      ) { held in
        isPerformed = false
        if let thread = unsafe held.thread, let hold = unsafe held.hold {
          unsafe fwd_let_go_from(thread, hold, 0)
        }
      }
      if isPerformed { tally.answered += 1 }
    } catch {
      tally.fail(error, at: unsafe member(at: place))
    }
    return isPerformed
  }
}
