// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// A position in a list that is held.
typealias MemberPlace = UnsafePointer<UnsafeRawPointer>

@unsafe
private func target(at place: MemberPlace) -> UnsafeMutablePointer<FWDTarget> {
  unsafe fwd_target_of(place.pointee)
}

@unsafe
func member(at place: MemberPlace) -> ListedTarget {
  unsafe Unmanaged<ListedTarget>.fromOpaque(place.pointee).takeUnretainedValue()
}

/// Calls a method on consecutive targets of the class that it belongs to, and then those of the
/// next classes, if these are Swift bodies for the same plan.
@safe
struct MethodRun {
  // SAFETY: all are valid while the delivery holds the list and the methods.
  let call: Call
  let method: UnsafePointer<FWDMethod>
  let cache: UnsafePointer<FWDMethodCache>

  /// Calls the method on the first target and those behind it, and returns the position of the
  /// first member that was not called.
  @inline(__always)
  func perform(
    from place: MemberPlace, to end: MemberPlace, _ tally: inout TargetList.Tally
  ) -> MemberPlace {
    let slot = call.slot(0)
    let receiver = slot.word
    defer { slot.word = receiver }
    guard unsafe method.pointee.is_light != 0, unsafe method.pointee.function == nil else {
      return unsafe callWithCare(place, end, &tally)
    }
    let next = unsafe callBody(place, end, &tally)
    if tally.answered > 0 { call.hasResult = call.returnsValue }
    return unsafe next
  }

  /// Calls a Swift body whose result has no ownership. If it throws, the result of an earlier
  /// target stays, because a body writes its result last.
  @inline(never)
  private func callBody(
    _ start: MemberPlace, _ end: MemberPlace, _ tally: inout TargetList.Tally
  ) -> MemberPlace {
    let receiver = unsafe call.frame + Int(call.slot(0).slot.pointee.offset)
    let before = call.slot(0).word
    let frame = unsafe FrameReference(call.frame)
    var place = unsafe start
    var failures = 0
    unsafe call.state.pointee.uses &+= 1
    defer { unsafe call.state.pointee.uses &-= 1 }
    var body = unsafe method.pointee.implementation.map {
      unsafe Unmanaged<Implementation>.fromOpaque($0)
    }
    while let current = unsafe body {
      unsafe body = nil
      unsafe current._withUnsafeGuaranteedRef { implementation in
        let type = unsafe fwd_target_type(target(at: place))
        repeat {
          let target = unsafe target(at: place)
          let own = unsafe fwd_target_type(target)
          guard own == type else {
            unsafe body = similarBody(of: own)
            break
          }
          let taken = unsafe fwd_target_retain(target)
          guard let object = unsafe taken.object else { break }
          unsafe receiver.storeBytes(of: UInt(bitPattern: object), as: UInt.self)
          do {
            try implementation.body(frame)
          } catch {
            failures += 1
            tally.fail(error, at: unsafe member(at: place))
          }
          // The `deinit` of a target that dies on its release must not find the target in the
          // frame.
          if unsafe taken.retained != nil {
            unsafe receiver.storeBytes(of: before, as: UInt64.self)
          }
          unsafe fwd_target_release(taken)
          unsafe place += 1
        } while unsafe place < end && fwd_method_is_current(cache) != 0
      }
    }
    tally.answered += unsafe place - start - failures
    return unsafe place
  }

  /// The body of another class that is called in the same way; nil if the class has no such body, or
  /// if the body is not known yet. The table retains it.
  @inline(__always)
  private func similarBody(of type: UInt) -> Unmanaged<Implementation>? {
    guard let found = unsafe fwd_method_find(cache, type, method.pointee.selector),
      unsafe found.pointee.plan == method.pointee.plan, unsafe found.pointee.is_light != 0,
      unsafe found.pointee.function == nil, let body = unsafe found.pointee.implementation
    else { return nil }
    return unsafe .fromOpaque(body)
  }

  /// Calls a method of any kind, with a result that may be owned.
  @inline(never)
  private func callWithCare(
    _ start: MemberPlace, _ end: MemberPlace, _ tally: inout TargetList.Tally
  ) -> MemberPlace {
    var place = unsafe start
    let type = unsafe fwd_target_type(target(at: start))
    let before = call.slot(0).word
    repeat {
      let target = unsafe target(at: place)
      guard unsafe fwd_target_type(target) == type else { break }
      let taken = unsafe fwd_target_retain(target)
      guard let object = unsafe taken.object else { break }
      call.slot(0).word = UInt64(UInt(bitPattern: object))
      do {
        try unsafe call.performKeepingResult(method)
        tally.answered += 1
      } catch {
        tally.fail(error, at: unsafe member(at: place))
      }
      call.slot(0).word = before
      unsafe fwd_target_release(taken)
      unsafe place += 1
    } while unsafe place < end && fwd_method_is_current(cache) != 0
    return unsafe place
  }
}

extension Call {
  /// Performs a method. If it throws, the result of an earlier target stays.
  @unsafe
  func performKeepingResult(_ method: UnsafePointer<FWDMethod>) throws {
    let had = hasResult
    let old = detachResult()
    do {
      try unsafe perform(method)
    } catch {
      // A `deinit` that ran because of the error may have set a result.
      let stray = detachResult()
      defer { letGo(stray) }
      // The bytes of an unowned result are still in place.
      if old.ownership != .none {
        resultSlot.word = old.word
        resultOwnership = old.ownership
      }
      hasResult = had
      throw error
    }
    letGo(old)
  }
}
