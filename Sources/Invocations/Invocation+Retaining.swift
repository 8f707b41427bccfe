import CForwardingShims
import TypeEncodings

extension Invocation {
  /// Retains every object, and copies every C string, that is only borrowed so far; arguments
  /// that are set later are kept likewise. Calling it again changes nothing.
  ///
  /// What a `^` points at, or a structure holds, is never followed.
  ///
  /// - Parameter includingTarget: false leaves the receiver borrowed, for invocations that their
  ///   own target keeps; both would live for ever otherwise.
  public func retainArguments(includingTarget: Bool = true) {
    argumentsRetained = true
    if includingTarget { targetRetained = true }
    for index in 0..<plan.argumentCount where isRetaining(index) && !owns(index) { retain(index) }
    if hasResult { keepResult() }
  }

  /// Whether argument `index` is to be kept when it is set.
  func isRetaining(_ index: Int) -> Bool {
    guard argumentsRetained else { return false }
    return index == 0 && plan.signature.shape == .method ? targetRetained : true
  }

  /// Makes argument `index`, which is borrowed, the invocation's own.
  @usableFromInline func retain(_ index: Int) {
    let slot = slot(index)
    guard slot.kind.isOwnable, !slot.isNull else { return }
    if slot.kind.isCString {
      slot.word = OwnedCString.copy(ofAddress: slot.word)
    } else {
      OwnedObject.retain(slot.word)
    }
    setOwns(index, true)
  }

  /// Makes a borrowed result the invocation's own.
  func keepResult() {
    let slot = resultSlot
    guard resultOwnership == .none, slot.kind.isOwnable, !slot.isNull else { return }
    if slot.kind.isCString {
      slot.word = OwnedCString.copy(ofAddress: slot.word)
      resultOwnership = .cString
    } else {
      OwnedObject.retain(slot.word)
      resultOwnership = .object
    }
  }
}

extension Invocation {
  /// Makes an invocation with the same arguments, target, selector and result.
  ///
  /// The frame is copied by its size. What this one owns, the copy owns too: objects are retained
  /// once more, owned C strings copied. What is borrowed stays borrowed.
  public func copy() -> Invocation {
    let copy = Invocation(plan)
    // SAFETY: both frames have the size that the one plan says.
    unsafe copy.frame.copyMemory(from: frame, byteCount: plan.frameSize)
    unsafe copy.bindResult()
    copy.argumentsRetained = argumentsRetained
    copy.targetRetained = targetRetained
    for index in 0..<plan.argumentCount where owns(index) { copy.retain(index) }
    copy.hasResult = hasResult
    if hasResult, resultOwnership != .none { copy.keepResult() }
    return copy
  }
}
