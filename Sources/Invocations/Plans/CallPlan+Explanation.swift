import CForwardingShims

extension CallPlan {
  /// Who performs the calls of a plan.
  public enum Engine: String, Hashable, Sendable {
    /// A cast of the function pointer to one of a few shapes.
    case direct
    /// The system's libffi.
    case libffi
  }

  /// Who performs the calls of this plan.
  public var performer: Engine { engine == .direct ? .direct : .libffi }

  /// Whether calls on this platform go through the direct engine, variadic ones apart.
  public static var hasDirectEngine: Bool { fwd_has_direct_engine() != 0 }

  /// Where a value travels.
  public struct Location: Hashable, Sendable {
    /// The registers that carry it, in order: `rdi`, `xmm0`.
    public var registers: [String]
    /// Where it begins among the stack words, in bytes.
    public var stackOffset: Int?
    /// Where it begins in a frame, in bytes.
    public var frameOffset: Int
    /// In words: `rdi`, `rax:xmm0`, `stack+16`, `memory (pointer in rdi)`, `nowhere`; on AArch64 also
    /// `address of a copy in x1`.
    public var text: String
  }

  /// Where argument `index` travels.
  public func location(ofArgument index: Int) throws(InvocationError) -> Location {
    guard (0..<argumentCount).contains(index) else {
      throw .indexOutOfBounds(index: index, count: argumentCount)
    }
    return unsafe location(slots[index]) { $0.arguments[index] }
  }

  /// Where the result travels.
  public var resultLocation: Location { unsafe location(result.pointee) { $0.result } }

  /// The size of a frame for this plan, in bytes.
  public var frameLength: Int { frameSize }

  /// How many words of stack a call copies.
  public var stackWords: Int { unsafe Int(facts.pointee.stack_words) }

  /// Without a direct engine, frames say nothing about registers.
  private func location(
    _ slot: FWDSlot, _ place: (CallPlaces) -> CallPlaces.Place
  ) -> Location {
    let offset = Int(slot.offset)
    if slot.route == .nowhere {
      return Location(registers: [], stackOffset: nil, frameOffset: offset, text: "nowhere")
    }
    guard Self.hasDirectEngine,
      let places = try? CallPlaces(signature, fixedArgumentCount: fixedArgumentCount)
    else {
      return Location(
        registers: [], stackOffset: nil, frameOffset: offset, text: "placed by libffi")
    }
    let place = place(places)
    return Location(
      registers: place.registers, stackOffset: place.stackOffset, frameOffset: offset,
      text: place.text)
  }
}
