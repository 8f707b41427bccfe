// SPDX-License-Identifier: Apache-2.0
/// A platform whose types and calls can be described: the current one, or another.
///
/// Everything that differs between platforms is defined here, so that each answer is available, and
/// tested, on all of them. Types that only the C compiler of a platform has, such as `Float80`, are
/// left to their users.
package enum Machine: String, Sendable, CaseIterable {
  /// The System V ABI. Its types equal those of a Mac with an Intel processor.
  case x86_64Linux = "x86_64-linux"
  /// AAPCS64.
  case aarch64Linux = "aarch64-linux"
  /// AAPCS64 in Apple's variant, where `long double` is `double`.
  case arm64MacOS = "arm64-macos"

  /// Finds the machine with a name.
  ///
  /// - Throws: ``UnknownMachine`` if `known` has no machine of this name.
  package init(named name: String, among known: [Machine]) throws(UnknownMachine) {
    guard let machine = known.first(where: { $0.rawValue == name }) else {
      throw UnknownMachine(name: name, known: known)
    }
    self = machine
  }

  /// The current platform. A processor of another kind has the types of the second machine, as far
  /// as this package describes them; libffi places its values.
  package static var own: Machine {
    #if arch(x86_64)
      .x86_64Linux
    #elseif arch(arm64) && canImport(Darwin)
      .arm64MacOS
    #else
      .aarch64Linux
    #endif
  }

  /// The value of `sizeof(long double)`.
  var longDoubleSize: Int { self == .arm64MacOS ? 8 : 16 }

  /// The short name of a `long double`'s format.
  var longDoubleName: String {
    switch self {
    case .x86_64Linux: "f80"
    case .aarch64Linux: "f128"
    case .arm64MacOS: "f64"
    }
  }

  /// Whether a bit-field of width 0 aligns its structure.
  var alignsEmptyBitFields: Bool { self == .aarch64Linux }
}

/// The error for the name of a machine that cannot be described.
package struct UnknownMachine: Error, Hashable, Sendable, CustomStringConvertible {
  package var name: String
  /// The machines that can be described.
  package var known: [Machine]

  package var description: String {
    "'\(name)' is not a known target; choose one of \(known.map(\.rawValue).joined(separator: ", "))"
  }
}

extension Scalar {
  /// The size in bytes on a machine, which is also the alignment.
  package func size(on machine: Machine) -> Int {
    switch self {
    case .int8, .uint8, .bool: 1
    case .int16, .uint16: 2
    case .int32, .uint32, .float: 4
    case .long, .unsignedLong: 8
    case .int64, .uint64, .double: 8
    case .int128, .uint128: 16
    case .longDouble: machine.longDoubleSize
    }
  }
}
