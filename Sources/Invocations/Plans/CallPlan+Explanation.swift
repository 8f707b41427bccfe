// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

extension CallPlan {
  /// The code that performs the calls of a plan.
  public enum Engine: String, Hashable, Sendable {
    /// A cast of the function pointer to one of a few shapes.
    case direct
    /// The system's libffi.
    case libffi
  }

  /// The engine that performs the calls of this plan.
  public var performer: Engine { engine == .direct ? .direct : .libffi }

  /// Whether the direct engine performs the calls on this platform, except variadic ones.
  public static var hasDirectEngine: Bool { fwd_has_direct_engine() != 0 }

  /// The registers, or the stack or frame offset, of a value.
  public struct Location: Hashable, Sendable {
    /// The registers that carry the value, in order: `rdi`, `xmm0`.
    package var registers: [String]
    /// The offset of the value in the stack arguments, in bytes; nil if it is not on the stack.
    package var stackOffset: Int?
    /// The offset of the value in a frame, in bytes.
    package var frameOffset: Int
    /// A description: `rdi`, `rax:xmm0`, `stack+16`, `memory (pointer in rdi)`, `nowhere`; on
    /// AArch64 also `address of a copy in x1`.
    public var text: String
  }

  /// The location of argument `index`.
  ///
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)`` if there is no such argument.
  public func location(ofArgument index: Int) throws(InvocationError) -> Location {
    guard (0..<argumentCount).contains(index) else {
      throw .indexOutOfBounds(index: index, count: argumentCount)
    }
    return unsafe location(slots[index]) { $0.arguments[index] }
  }

  /// The location of the result.
  public var resultLocation: Location { unsafe location(result.pointee) { $0.result } }

  /// The size of a frame of this plan, in bytes.
  package var frameLength: Int { frameSize }

  /// Locates a value. Without a direct engine, the location has no registers.
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
