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
    /// In words: `rdi`, `rax:xmm0`, `stack+16`, `memory (pointer in rdi)`, `nowhere`.
    public var text: String
  }

  /// Where argument `index` travels.
  public func location(ofArgument index: Int) throws(InvocationError) -> Location {
    guard (0..<argumentCount).contains(index) else {
      throw .indexOutOfBounds(index: index, count: argumentCount)
    }
    return unsafe Self.location(slots[index], integers: Self.argumentRegisters)
  }

  /// Where the result travels.
  public var resultLocation: Location {
    unsafe Self.resultLocation(facts.pointee.result)
  }

  /// The size of a frame for this plan, in bytes.
  public var frameLength: Int { frameSize }

  /// How many words of stack a call copies.
  public var stackWords: Int { unsafe Int(facts.pointee.stack_words) }

  private static let argumentRegisters = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"]

  private static func location(_ slot: FWDSlot, integers: [String]) -> Location {
    let offset = Int(slot.offset)
    switch slot.route {
    case .nowhere:
      return Location(registers: [], stackOffset: nil, frameOffset: offset, text: "nowhere")
    case .registers:
      var names = [name(atOffset: offset, integers)]
      if slot.second_offset != .max {
        names.append(name(atOffset: Int(slot.second_offset), integers))
      }
      return Location(
        registers: names, stackOffset: nil, frameOffset: offset,
        text: names.joined(separator: ":"))
    case .stack, .hiddenPointer, .X87:
      let stack = offset - Int(FWD_FRAME_STACK)
      let text = hasDirectEngine ? "stack+\(stack)" : "placed by libffi"
      return Location(registers: [], stackOffset: stack, frameOffset: offset, text: text)
    }
  }

  private static func name(atOffset offset: Int, _ integers: [String]) -> String {
    let word = offset / 8
    return word < 6 ? integers[word] : "xmm\(word - 6)"
  }

  private static func resultLocation(_ slot: FWDSlot) -> Location {
    func made(_ registers: [String], _ text: String) -> Location {
      Location(
        registers: registers, stackOffset: nil, frameOffset: Int(slot.offset), text: text)
    }
    switch slot.route {
    case .nowhere: return made([], "nowhere")
    case .stack: return made([], "placed by libffi")
    case .hiddenPointer: return made(["rdi"], "memory (pointer in rdi)")
    case .X87:
      let names = slot.first == .complexX87 ? ["st0", "st1"] : ["st0"]
      return made(names, names.joined(separator: ":"))
    case .registers:
      var integers = ["rax", "rdx"][...]
      var vectors = ["xmm0", "xmm1"][...]
      let names = [slot.first, slot.second].compactMap { part -> String? in
        switch part {
        case .integer: integers.popFirst()
        case .vector: vectors.popFirst()
        case .none, .X87, .complexX87, .memory: nil
        }
      }
      return made(names, names.joined(separator: ":"))
    }
  }
}
