// SPDX-License-Identifier: Apache-2.0
/// A platform whose types and calls can be described: the current one, or another.
///
/// Everything that differs between platforms is defined here, so that each answer is available, and
/// tested, on all of them. Types that only the C compiler of a platform has, such as `Float80`, are
/// left to their users.
package enum Machine: String, Sendable, CaseIterable {
  /// The System V ABI.
  case x86_64Linux = "x86_64-linux"
  /// AAPCS64.
  case aarch64Linux = "aarch64-linux"

  /// The current platform. A processor of another kind has the types of the second machine, as far
  /// as this package describes them; libffi places its values.
  package static var own: Machine {
    #if arch(x86_64)
      .x86_64Linux
    #else
      .aarch64Linux
    #endif
  }

  /// The short name of a `long double`'s format.
  var longDoubleName: String {
    switch self {
    case .x86_64Linux: "f80"
    case .aarch64Linux: "f128"
    }
  }

  /// Whether a bit-field of width 0 aligns its structure.
  var alignsEmptyBitFields: Bool { self == .aarch64Linux }
}
