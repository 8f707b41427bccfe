import CForwardingShims

@unsafe
func member(of target: UnsafePointer<FWDTarget>) -> AnyObject {
  unsafe Unmanaged<AnyObject>.fromOpaque(target.pointee.member).takeUnretainedValue()
}

/// One method, called on as many targets in a row as it fits.
@safe
struct MethodRun {
  // SAFETY: all are valid while the delivery holds the list and the methods.
  let call: Call
  let method: UnsafePointer<FWDMethod>
  let cache: UnsafePointer<FWDMethodCache>
  let list: UnsafePointer<FWDTargetList>

  /// Calls it from one target on, and returns the index of the first that was not called.
  @inline(__always)
  func perform(from index: Int, to end: Int, _ tally: inout TargetList.Tally) -> Int {
    let slot = call.slot(0)
    let receiver = slot.word
    defer { slot.word = receiver }
    guard unsafe method.pointee.is_light != 0, unsafe method.pointee.function == nil else {
      return callWithCare(index, end, &tally)
    }
    let next = callBody(index, end, &tally)
    if tally.answered > 0 { call.hasResult = call.returnsValue }
    return next
  }

  /// Calls a Swift body whose result needs no care; if it throws, that of an earlier one stays, as a
  /// body writes its result last.
  @inline(never)
  private func callBody(_ index: Int, _ end: Int, _ tally: inout TargetList.Tally) -> Int {
    guard let implementation = unsafe method.pointee.implementation else { return index }
    let receiver = unsafe call.frame + Int(call.slot(0).slot.pointee.offset)
    let before = call.slot(0).word
    let frame = unsafe FrameReference(call.frame)
    return unsafe Unmanaged<Implementation>.fromOpaque(implementation)._withUnsafeGuaranteedRef {
      implementation in
      var target = unsafe fwd_target_at(list, index)
      let stop = unsafe fwd_target_at(list, end)
      var failures = 0
      unsafe call.state.pointee.uses &+= 1
      defer { unsafe call.state.pointee.uses &-= 1 }
      while unsafe target != stop {
        let taken = unsafe fwd_target_retain(target)
        guard let object = unsafe taken.object else { break }
        unsafe receiver.storeBytes(of: UInt(bitPattern: object), as: UInt.self)
        do {
          try implementation.body(frame)
        } catch {
          failures += 1
          tally.fail(error, at: unsafe member(of: target))
        }
        // Who dies of being given back must not be found in the frame by its own `deinit`.
        if unsafe taken.retained != nil { unsafe receiver.storeBytes(of: before, as: UInt64.self) }
        unsafe fwd_target_release(taken)
        unsafe target += 1
        if unsafe fwd_method_is_current(cache) == 0 { break }
      }
      let called = unsafe target - fwd_target_at(list, index)
      tally.answered += called - failures
      return index + called
    }
  }

  /// Calls a method of whatever kind, with a result that may be owned.
  @inline(never)
  private func callWithCare(_ index: Int, _ end: Int, _ tally: inout TargetList.Tally) -> Int {
    var index = index
    let before = call.slot(0).word
    while index < end {
      let target = unsafe fwd_target_at(list, index)
      let taken = unsafe fwd_target_retain(target)
      guard let object = unsafe taken.object else { break }
      call.slot(0).word = UInt64(UInt(bitPattern: object))
      do {
        try unsafe call.performKeepingResult(method)
        tally.answered += 1
      } catch {
        tally.fail(error, at: unsafe member(of: target))
      }
      call.slot(0).word = before
      unsafe fwd_target_release(taken)
      index += 1
      if unsafe fwd_method_is_current(cache) == 0 { break }
    }
    return index
  }
}

extension Call {
  /// Performs a method; if it throws, the result of an earlier one stays.
  @unsafe
  func performKeepingResult(_ method: UnsafePointer<FWDMethod>) throws {
    let had = hasResult
    let old = detachResult()
    do {
      try unsafe perform(method)
    } catch {
      // What died of the error may have set a result.
      let stray = detachResult()
      defer { letGo(stray) }
      // The bytes of a result that nobody owns are still there.
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
