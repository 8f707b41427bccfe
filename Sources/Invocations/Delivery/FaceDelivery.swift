// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// A message of a face in delivery: to a proxy, or to a target that the face does not call
/// directly.
///
/// Used by code that `@Forwardable` generates.
///
/// ```swift
/// let close = Requirement<Void, Int>("close:")
/// var delivery = FaceDelivery(to: MulticastProxy())
/// try FaceMessage.send(close, 5, through: &delivery)
/// ```
@_documentation(visibility: internal)
@safe
@frozen
public struct FaceDelivery {
  // SAFETY: a local variable of the delivering function, which holds the list and its members.

  /// The destination of the message.
  @safe
  @usableFromInline
  enum Destination {
    /// The proxy, like any other message.
    case proxy
    /// A target that takes messages.
    case target(UnsafePointer<UnsafeRawPointer>)
    /// No target: all targets had their turn, and none answered.
    case end
  }

  @usableFromInline let proxy: AnyObject
  @usableFromInline let owner: FaceOwner?
  @usableFromInline var destination = Destination.proxy
  /// The number of the message; until there is one, what it will say of it.
  @usableFromInline var message: UInt64 = 0
  /// The outcome at the targets that had their turn.
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

  /// Sends a message whose arguments are set. On return, the call has the result.
  @usableFromInline
  @inline(never)
  mutating func send(_ call: Call, _ selector: Selector) throws {
    switch destination {
    case .proxy:
      message = fwd_next_face_message() | message & FWD_OTHERWISE_MESSAGE_BIT
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

  /// The error for a target that does not answer.
  @usableFromInline
  struct NotAnswered: Error {
    static let error: any Error = NotAnswered()
  }

  private mutating func send(_ call: Call, to place: MemberPlace) {
    call.isTargetLent = true
    if unsafe sendQuickly(call, to: place) { return }
    owner?.proxy.deliver(call, to: unsafe member(at: place), &tally)
  }

  /// Performs the method that the class of a directly callable target is known to have. Returns
  /// false, and performs nothing, in other cases.
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
