import CForwardingShims

// Requirements that are async and cannot be messages: their targets are called, one after the other.
extension FaceTargets {
  /// Calls the targets of a face, and awaits each.
  ///
  /// - Parameters:
  ///   - place: where the tables of a target have that of the protocol.
  ///   - refusal: what a target fails with that takes nothing but messages, and a sender whose proxy does.
  ///   - direct: calls the requirement of a target.
  package nonisolated(nonsending) func callAwaiting<Target, Result>(
    _ place: Int, _ selector: Selector, isOptional: Bool, refusal: any Error,
    of proxy: AnyClass,
    _ direct: nonisolated(nonsending) (Target) async throws -> Result
  ) async -> FaceAnswer<Result> {
    guard let list = unsafe list.map({ unsafe Unmanaged<TargetList>.fromOpaque($0) }) else {
      return .failed(refusal)
    }
    let targets = unsafe list.takeUnretainedValue()
    do {
      return try await AwaitedStep.take(through: targets, selector, for: proxy) {
        await callInside(targets, place, selector, isOptional: isOptional, refusal, direct)
      }
    } catch {
      return .failed(error)
    }
  }

  private nonisolated(nonsending) func callInside<Target, Result>(
    _ list: TargetList, _ place: Int, _ selector: Selector, isOptional: Bool,
    _ refusal: any Error,
    _ direct: nonisolated(nonsending) (Target) async throws -> Result
  ) async -> FaceAnswer<Result> {
    guard let owner = owner?.proxy else { return .failed(refusal) }
    let stopsAtFirst = list.stopsAtFirst(hasResult: Result.self != Void.self)
    let members = owner.beginAwaited()
    defer { owner.endAwaited() }
    var tally = TargetList.Tally()
    var result: Result?
    for member in members where !member.isRemoved && !member.isBlocked {
      if Task.isCancelled {
        tally.fail(CancellationError())
        break
      }
      guard let object = member.object else {
        tally.metDead = true
        continue
      }
      // One that was added by its selectors has no method for what is no message.
      guard let witnesses = member.witnesses else {
        if member.type is any MessageForwarding.Type { tally.fail(refusal, at: member) }
        continue
      }
      guard member.way == .called,
        let target = unsafe witnesses.value(object, of: Target.self, at: place, for: face)
      else {
        tally.fail(refusal, at: member)
        continue
      }
      do {
        result =
          isOptional
          ? try await OptionalRequirement.runAwaiting(selector, of: object) {
            try await direct(target)
          }
          : try await direct(target)
        tally.answered += 1
        if stopsAtFirst { break }
      } catch is NotImplemented {
      } catch {
        tally.fail(error, at: member)
      }
    }
    owner.tidy(tally, of: selector)
    if let error = tally.error { return .failed(error) }
    // What has no result wants no answer.
    if let result = result ?? (() as? Result) { return .answered(result) }
    return .unanswered(NotImplemented())
  }
}

extension FaceWitnesses {
  /// An object as a value of a protocol, where the face may call it.
  @unsafe
  fileprivate func value<Target>(
    _ object: AnyObject, of type: Target.Type, at place: Int, for face: UnsafeRawPointer
  ) -> Target? {
    guard unsafe record.pointee.face == face, let table = unsafe fwd_witnesses_table(record, place),
      MemoryLayout<Target>.size == 2 * MemoryLayout<UInt>.size
    else { return nil }
    // SAFETY: a value of a protocol for objects is the object and the table. Loaded, and so retained.
    var words = unsafe (Unmanaged.passUnretained(object).toOpaque(), table)
    return unsafe withUnsafeBytes(of: &words) { unsafe $0.load(as: Target.self) }
  }
}
