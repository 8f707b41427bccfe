import CForwardingShims
package import TypeEncodings

/// Where the values of a call travel, on this machine or another: registers and stack, but no frame.
package struct CallPlaces: Sendable {
  /// Where one value travels.
  package struct Place: Hashable, Sendable {
    /// The registers that carry it, or its address, in order.
    package var registers: [String]
    /// Where it, or its address, begins among what is passed on the stack, in bytes.
    package var stackOffset: Int?
    /// Whether the address of a copy travels in place of the value.
    package var isCopied: Bool
    /// In words: `x0`, `v0:v1`, `stack+16`, `address of a copy in x1`, `memory (pointer in x8)`, `nowhere`.
    package var text: String
  }

  /// Where the result travels.
  package let result: Place
  /// Where each argument travels.
  package let arguments: [Place]
  /// How many bytes the arguments take on the stack.
  package let stackSize: Int

  /// The machines whose places are known. Those of Apple's are left to libffi.
  package static var machines: [Machine] { [.aarch64Linux, .x86_64Linux] }

  /// Finds the places of a call with `signature`, on the machine that it was parsed for.
  ///
  /// Refuses what a plan refuses.
  package init(
    _ signature: MethodSignature, fixedArgumentCount: Int? = nil
  ) throws(InvocationError) {
    guard let abi = FWDAbi(signature.machine) else { throw .unsupportedConvention }
    let values = try CallPlan.values(of: signature)
    var places = [FWDPlace](repeating: FWDPlace(), count: values.count)
    var stack: UInt32 = 0
    var blamed = 0
    // SAFETY: `places` has room for one of each value, and C keeps none of the addresses.
    let status = unsafe fwd_place_for(
      abi, values, values.count - 1, fixedArgumentCount ?? values.count - 1, &places, &stack,
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
      // SAFETY: C looks at the place while it is called, and its names last as long as the process.
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
  /// nil for a machine whose values are placed by libffi alone.
  fileprivate init?(_ machine: Machine) {
    switch machine {
    case .x86_64Linux: self = .sysV
    case .aarch64Linux: self = .AAPCS64
    case .arm64MacOS: return nil
    }
  }
}
