// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
package import TypeEncodings

extension CallPlan {
  /// The registers or the stack place of one value.
  public struct Location: Hashable, Sendable {
    /// The registers that carry the value, or its address, in order: `rdi`, `xmm0`.
    package let registers: [String]
    /// The offset of the value, or of its address, in the stack arguments, in bytes; nil if it is
    /// not on the stack.
    package let stackOffset: Int?
    /// Whether the caller passes the address of a copy in place of the value.
    package let isCopied: Bool
    /// A description: `x0`, `rax:xmm0`, `stack+16`, `address of a copy in x1`, `memory (pointer in
    /// x8)`, `nowhere`.
    public let text: String
  }

  /// The location of argument `index`.
  ///
  /// - Throws: ``InvocationError/indexOutOfBounds(index:count:)`` if there is no such argument.
  public func location(ofArgument index: Int) throws(InvocationError) -> Location {
    guard (0..<argumentCount).contains(index) else {
      throw .indexOutOfBounds(index: index, count: argumentCount)
    }
    return try CallPlaces(signature, fixedArgumentCount: fixedArgumentCount).arguments[index]
  }

  /// The location of the result.
  public var resultLocation: Location {
    guard let places = try? CallPlaces(signature, fixedArgumentCount: fixedArgumentCount) else {
      preconditionFailure("the plan placed these values")
    }
    return places.result
  }

  /// The offset of a value in a frame, in bytes; place 0 is the result.
  package func frameOffset(ofPlace place: Int) -> Int {
    unsafe Int(place == 0 ? result.pointee.offset : slots[place - 1].offset)
  }

  /// Whether the direct engine makes the calls on this platform; otherwise libffi does.
  public static var hasDirectEngine: Bool { fwd_has_direct_engine() != 0 }
}

/// The locations of a call's values, on this machine or another. Needs no frame.
package struct CallPlaces: Sendable {
  package let result: CallPlan.Location
  package let arguments: [CallPlan.Location]
  /// The size of the stack arguments, in bytes.
  package let stackSize: Int

  /// Finds the places of a call with `signature`, on the machine that the signature was parsed for.
  ///
  /// - Throws: The errors of `CallPlan.shared` for a signature that it refuses.
  package init(
    _ signature: MethodSignature, fixedArgumentCount: Int? = nil
  ) throws(InvocationError) {
    let abi: FWDAbi = signature.machine == .x86_64Linux ? .sysV : .AAPCS64
    let values = try CallPlan.values(of: signature)
    var places = [FWDPlace](repeating: FWDPlace(), count: values.count)
    var stack: UInt32 = 0
    var blamed = 0
    // SAFETY: `places` has one element for each value, and C retains none of the addresses.
    let status = unsafe fwd_place_for(
      abi, values, values.count - 1, fixedArgumentCount ?? Int.max, &places, &stack,
      &blamed)
    guard status == .ok else { throw CallPlan.error(status, blamed, signature) }
    result = CallPlan.Location(places[0], abi)
    arguments = places.dropFirst().map { CallPlan.Location($0, abi) }
    stackSize = Int(stack)
  }
}

extension CallPlan.Location {
  fileprivate init(_ place: FWDPlace, _ abi: FWDAbi) {
    registers = (0..<Int(place.register_count)).map { index in
      var place = place
      // SAFETY: C reads the place during the call only. Names of registers live as long as the
      // process.
      return unsafe String(cString: fwd_register_name(abi, fwd_place_register(&place, index)))
    }
    let joined = registers.joined(separator: ":")
    stackOffset = place.route == .stack ? Int(place.stack_offset) : nil
    isCopied = place.is_copied != 0
    text =
      switch place.route {
      case .nowhere: "nowhere"
      case .registers, .X87: isCopied ? "address of a copy in \(joined)" : joined
      case .stack: (isCopied ? "address of a copy at " : "") + "stack+\(place.stack_offset)"
      case .hiddenPointer: "memory (pointer in \(joined))"
      }
  }
}
