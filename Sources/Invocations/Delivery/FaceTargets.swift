public import CForwardingShims

/// The proxy that has the targets of a face.
@safe
@usableFromInline
final class FaceOwner: Sendable {
  // SAFETY: the face keeps the proxy as long as this.
  private nonisolated(unsafe) unowned(unsafe) let owner: any TargetListOwner

  init(_ owner: any TargetListOwner) { unsafe self.owner = owner }

  var proxy: any TargetListOwner { unsafe owner }
}

/// The targets that a face calls directly, through their witness tables.
@safe
@frozen
public struct FaceTargets: @unchecked Sendable {
  // SAFETY: the face keeps the proxy that owns the list; the class of the face lives as long as the process.
  @usableFromInline let list: UnsafeRawPointer?
  @usableFromInline let face: UnsafeRawPointer
  @usableFromInline let owner: FaceOwner?

  /// The list of a proxy that passes every message on to its targets; nil where the proxy may do something else.
  package init(_ list: TargetList?, of owner: (any TargetListOwner)?, for face: AnyClass) {
    unsafe self.list = list.map { unsafe UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
    self.owner = owner.map { FaceOwner($0) }
    unsafe self.face = unsafeBitCast(face, to: UnsafeRawPointer.self)
  }
}

/// A target that a face calls. It is lent for the call, and no reference to it is counted.
@frozen
public struct FaceTarget<Value>: ~Copyable {
  /// The target.
  public let value: Value
}

/// A message of a face on its way: to a proxy, or to one of the targets that the face does not call directly.
///
/// Faces are written by `@Forwardable`; nobody else needs this.
///
/// ```swift
/// let close = Requirement<Void, Int>("close:")
/// var delivery = FaceDelivery(to: MulticastProxy())
/// try FaceMessage.send(close, 5, through: &delivery)
/// ```
@safe
@frozen
public struct FaceDelivery {
  // SAFETY: a variable of the function that delivers, which holds the proxy, the list and its members.

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

  @usableFromInline let proxy: Unmanaged<AnyObject>
  @usableFromInline let owner: FaceOwner?
  @usableFromInline var destination = Destination.proxy
  /// The number of the message; 0 until there is one.
  @usableFromInline var message: UInt64 = 0
  /// What came of the targets that had their turn.
  @usableFromInline var tally = TargetList.Tally()

  @inlinable @unsafe
  package init(_ targets: FaceTargets, _ proxy: AnyObject) {
    unsafe self.proxy = Unmanaged.passUnretained(proxy)
    owner = targets.owner
  }

  /// How many targets have answered.
  @inlinable package var answered: Int { tally.answered }

  /// Sends the message whose arguments are set. Where this returns, the call has the answer.
  @usableFromInline
  @inline(never)
  mutating func send(_ call: Call, _ selector: Selector) throws {
    switch destination {
    case .proxy:
      message = fwd_next_face_message()
      unsafe call.state.pointee.message = message
      try unsafe proxy._withUnsafeGuaranteedRef { try call.send(compared: selector, to: $0) }
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

/// What became of a message of a face.
@frozen
public enum FaceAnswer<Result> {
  case answered(Result)
  /// Nobody answered, and this is what a sender gets who can throw.
  case unanswered(any Error)
  /// A target failed, or the message could not be delivered.
  case failed(any Error)
}

extension FaceDelivery {
  /// Delivers a requirement: calls the targets that the face may call, and sends messages to all others.
  ///
  /// - Parameters:
  ///   - place: where the tables of a target have that of the protocol.
  ///   - direct: calls the requirement of a target.
  ///   - send: sends the message.
  @inlinable
  @inline(__always)
  package static func deliver<Target, Result, Failure: Error>(
    _ selector: () -> Selector, isOptional: Bool, to targets: FaceTargets, of proxy: AnyObject,
    _ place: Int,
    _ direct: (borrowing FaceTarget<Target>) throws(Failure) -> Result,
    _ send: (inout FaceDelivery) throws -> Result
  ) -> FaceAnswer<Result> {
    var round = unsafe FWDDirectRound()
    guard let list = unsafe targets.list,
      unsafe fwd_direct_begin(&round, fwd_list_place(fwd_owned_list_of(list)), list) != 0
        || beginAgain(&round, targets)
    else {
      var delivery = unsafe FaceDelivery(targets, proxy)
      return delivery.conclude(send)
    }
    var result: Result?
    var answered = 0
    // There where more is to do than to call.
    var delivery: UnsafeMutablePointer<FaceDelivery>?
    let stopsAtFirst =
      unsafe fwd_list_stops_at_first(
        fwd_owned_list_of(list), Result.self == Void.self ? 0 : 1) != 0
    while let member = unsafe fwd_direct_next(&round) {
      let taken = unsafe fwd_direct_take(member, targets.face, place)
      if let object = unsafe taken.object {
        if isOptional { unsafe fwd_forget_left_out(round.thread) }
        do throws(Failure) {
          let answer = try unsafe withUnsafeBytes(
            of: (object, taken.table)
          ) { words throws(Failure) in
            // SAFETY: a value of a protocol for objects is the object and the table.
            try direct(
              unsafe words.baseAddress.unsafelyUnwrapped.assumingMemoryBound(
                to: FaceTarget<Target>.self
              ).pointee)
          }
          if isOptional,
            unsafe fwd_is_left_out(round.thread, object, UInt64(selector().word)) != 0
          {
            unsafe noteLeftOut(selector(), at: member)
          } else {
            result = answer
            answered += 1
          }
        } catch {
          unsafe fail(error, at: member, &delivery, targets, proxy)
        }
        unsafe fwd_direct_give_back(taken)
      } else {
        unsafe sendAlone(to: member, &delivery, &result, &answered, &round, targets, proxy, send)
      }
      if stopsAtFirst, answered > 0 { break }
    }
    unsafe fwd_direct_end(&round)
    if unsafe delivery == nil, answered > 0, let result { return .answered(result) }
    let message = unsafe round.message
    return unsafe conclude(
      result, answered, delivery, message, targets, proxy, selector(), send)
  }

  /// Publishes the list of targets, and begins again.
  @usableFromInline @unsafe
  @inline(never)
  static func beginAgain(_ round: inout FWDDirectRound, _ targets: FaceTargets) -> Bool {
    guard let list = unsafe targets.list else { return false }
    targets.owner?.proxy.publishTargets()
    return unsafe fwd_direct_begin(&round, fwd_list_place(fwd_owned_list_of(list)), list) != 0
  }

  /// Sends a message to a target that the face does not call.
  @usableFromInline @unsafe
  @inline(never)
  static func sendAlone<Result>(
    to place: UnsafePointer<UnsafeRawPointer>,
    _ known: inout UnsafeMutablePointer<FaceDelivery>?, _ result: inout Result?,
    _ answered: inout Int, _ round: inout FWDDirectRound,
    _ targets: FaceTargets, _ proxy: AnyObject, _ send: (inout FaceDelivery) throws -> Result
  ) {
    var delivery = unsafe take(&known) ?? FaceDelivery(targets, proxy)
    delivery.message = unsafe fwd_direct_number(&round)
    delivery.destination = unsafe .target(place)
    delivery.tally.answered = answered
    do {
      result = try send(&delivery)
    } catch {
      // One that has not answered is none that failed.
      if !(error is NotAnswered) { delivery.tally.fail(error) }
    }
    answered = delivery.tally.answered
    // That it has answered, the number says.
    if answered == 0 || !delivery.tally.isSimple(true) { unsafe keep(delivery, &known) }
  }

  /// Notes that a target threw.
  @usableFromInline @unsafe
  @inline(never)
  static func fail(
    _ error: any Error, at place: UnsafePointer<UnsafeRawPointer>,
    _ known: inout UnsafeMutablePointer<FaceDelivery>?, _ targets: FaceTargets,
    _ proxy: AnyObject
  ) {
    var delivery = unsafe take(&known) ?? FaceDelivery(targets, proxy)
    delivery.tally.fail(error, at: unsafe member(at: place))
    unsafe keep(delivery, &known)
  }

  /// Takes what is known of a delivery: most have nothing but targets that are called, and no memory for it.
  @unsafe
  private static func take(_ known: inout UnsafeMutablePointer<FaceDelivery>?) -> FaceDelivery? {
    guard let memory = unsafe known else { return nil }
    unsafe known = nil
    defer { unsafe memory.deallocate() }
    return unsafe memory.move()
  }

  @unsafe
  private static func keep(
    _ delivery: FaceDelivery, _ known: inout UnsafeMutablePointer<FaceDelivery>?
  ) {
    unsafe known = .allocate(capacity: 1)
    unsafe known?.initialize(to: delivery)
  }

  /// Notes that the class of a target left out an optional requirement.
  @usableFromInline @unsafe
  @inline(never)
  static func noteLeftOut(_ selector: Selector, at place: UnsafePointer<UnsafeRawPointer>) {
    OptionalRequirement.note(leftOut: selector, by: unsafe member(at: place).type)
  }

  /// Sends the message to the proxy.
  @usableFromInline
  @inline(never)
  mutating func conclude<Result>(
    _ send: (inout FaceDelivery) throws -> Result
  ) -> FaceAnswer<Result> {
    do {
      return .answered(try send(&self))
    } catch {
      return UnansweredMessages.take(message, error) ? .unanswered(error) : .failed(error)
    }
  }

  /// Decides what the sender gets.
  @usableFromInline @unsafe
  @inline(never)
  static func conclude<Result>(
    _ result: Result?, _ answered: Int, _ known: UnsafeMutablePointer<FaceDelivery>?,
    _ message: UInt64, _ targets: FaceTargets, _ proxy: AnyObject, _ selector: Selector,
    _ send: (inout FaceDelivery) throws -> Result
  ) -> FaceAnswer<Result> {
    var known = unsafe known
    var delivery = unsafe take(&known) ?? FaceDelivery(targets, proxy)
    let hasQueued = delivery.tally.hasQueued
    delivery.message = message == 0 ? fwd_next_face_message() : message
    delivery.tally.answered = answered
    targets.owner?.proxy.tidy(delivery.tally, of: selector)
    if let error = delivery.tally.error { return .failed(error) }
    if let result, answered > 0 || hasQueued && Result.self == Void.self {
      return .answered(result)
    }
    delivery.destination = .end
    return delivery.conclude(send)
  }
}
