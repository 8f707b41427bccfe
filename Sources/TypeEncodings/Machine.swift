// SPDX-License-Identifier: Apache-2.0
/// A platform whose types and calls can be described: the current one, or another, so that each answer
/// is tested on all of them.
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
}
