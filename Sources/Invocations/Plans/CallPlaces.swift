// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
package import TypeEncodings

/// The registers and stack places of a call's values, on this machine or another. Needs no frame.
package struct CallPlaces: Sendable {
  /// The registers or the stack place of one value.
  package struct Place: Hashable, Sendable {
    /// The registers that carry the value, or its address, in order.
    package var registers: [String]
    /// The offset of the value, or of its address, in the stack arguments, in bytes; nil for a
    /// value that is not on the stack.
    package var stackOffset: Int?
    /// Whether the caller passes the address of a copy in place of the value.
    package var isCopied: Bool
    /// A description: `x0`, `v0:v1`, `stack+16`, `address of a copy in x1`, `memory (pointer in
    /// x8)`, `nowhere`.
    package var text: String
  }

  /// The place of the result.
  package let result: Place
  /// The place of each argument.
  package let arguments: [Place]
  /// The size of the stack arguments, in bytes.
  package let stackSize: Int

  /// Finds the places of a call with `signature`, on the machine that the signature was parsed for.
  ///
  /// - Throws: The errors of `CallPlan.init` for a signature that it refuses.
  package init(
    _ signature: MethodSignature, fixedArgumentCount: Int? = nil
  ) throws(InvocationError) {
    let abi = FWDAbi(signature.machine)
    let values = try CallPlan.values(of: signature)
    var places = [FWDPlace](repeating: FWDPlace(), count: values.count)
    var stack: UInt32 = 0
    var blamed = 0
    // SAFETY: `places` has one element for each value, and C retains none of the addresses.
    let status = unsafe fwd_place_for(
      abi, values, values.count - 1, fixedArgumentCount ?? Int.max, &places, &stack,
      &blamed)
    guard status == .ok else { throw CallPlan.error(status, blamed, signature) }
    result = Place(places[0], abi)
    arguments = places.dropFirst().map { Place($0, abi) }
    stackSize = Int(stack)
  }
}

extension CallPlaces.Place {
  fileprivate init(_ place: FWDPlace, _ abi: FWDAbi) {
    let names = (0..<Int(place.register_count)).map { index in
      var place = place
      // SAFETY: C reads the place during the call only. Names of registers live as long as the
      // process.
      return unsafe String(cString: fwd_register_name(abi, fwd_place_register(&place, index)))
    }
    let joined = names.joined(separator: ":")
    let copy = place.is_copied == 0 ? "" : "address of a copy "
    let stack = Int(place.stack_offset)
    registers = names
    stackOffset = place.route == .stack ? stack : nil
    isCopied = place.is_copied != 0
    text =
      switch place.route {
      case .nowhere: "nowhere"
      case .registers: isCopied ? "\(copy)in \(joined)" : joined
      case .X87: joined
      case .stack: isCopied ? "\(copy)at stack+\(stack)" : "stack+\(stack)"
      case .hiddenPointer: "memory (pointer in \(joined))"
      }
  }
}

extension FWDAbi {
  /// The ABI of a machine.
  fileprivate init(_ machine: Machine) {
    switch machine {
    case .x86_64Linux: self = .sysV
    case .aarch64Linux: self = .AAPCS64
    }
  }
}
