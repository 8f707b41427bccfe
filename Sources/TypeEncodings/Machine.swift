/// A machine whose types and calls can be told: the one that this program runs on, or another.
///
/// Everything that differs between machines asks here, so that each answer can be had, and tested, on
/// all of them. What the C compiler alone knows, such as `Float80`, stays with those who use it.
package enum Machine: String, Sendable, CaseIterable {
  /// The System V ABI. Types of a Mac with an Intel processor are the same.
  case x86_64Linux = "x86_64-linux"
  /// AAPCS64.
  case aarch64Linux = "aarch64-linux"
  /// AAPCS64 as Apple has it, where `long double` is `double`.
  case arm64MacOS = "arm64-macos"

  /// The one of `known` with this name.
  package init(named name: String, among known: [Machine]) throws(UnknownMachine) {
    guard let machine = known.first(where: { $0.rawValue == name }) else {
      throw UnknownMachine(name: name, known: known)
    }
    self = machine
  }

  /// The one that this program runs on. A processor of another kind has the types of the second, as far as
  /// this package tells; libffi places its values.
  package static var own: Machine {
    #if arch(x86_64)
      .x86_64Linux
    #elseif arch(arm64) && canImport(Darwin)
      .arm64MacOS
    #else
      .aarch64Linux
    #endif
  }

  /// What `sizeof(long double)` says.
  var longDoubleSize: Int { self == .arm64MacOS ? 8 : 16 }

  /// The short name of a `long double`'s format.
  var longDoubleName: String {
    switch self {
    case .x86_64Linux: "f80"
    case .aarch64Linux: "f128"
    case .arm64MacOS: "f64"
    }
  }

  /// Whether a bit-field of no width aligns its structure.
  var alignsEmptyBitFields: Bool { self == .aarch64Linux }
}

/// A machine of which nothing can be told.
package struct UnknownMachine: Error, Hashable, Sendable, CustomStringConvertible {
  package var name: String
  /// Those of which it can.
  package var known: [Machine]

  package var description: String {
    "'\(name)' is no target; there are \(known.map(\.rawValue).joined(separator: ", "))"
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
