// SPDX-License-Identifier: Apache-2.0
/// The letters in front of a type that describe its use, not the type itself.
///
/// ```swift
/// let type = try TypeEncoding(parsing: "r*")
/// type.qualifiers.contains(.const)  // true
/// type.qualifiers.contains(.out)    // false
/// ```
public struct Qualifiers: OptionSet, Hashable, Sendable {
  public var rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// `r`, const.
  public static let const = Qualifiers(rawValue: 1)
  /// `n`, in.
  public static let `in` = Qualifiers(rawValue: 2)
  /// `N`, inout.
  public static let `inout` = Qualifiers(rawValue: 4)
  /// `o`, out.
  public static let out = Qualifiers(rawValue: 8)
  /// `O`, bycopy.
  public static let bycopy = Qualifiers(rawValue: 16)
  /// `R`, byref.
  public static let byref = Qualifiers(rawValue: 32)
  /// `V`, oneway.
  public static let oneway = Qualifiers(rawValue: 64)
  /// `A`, `_Atomic`.
  public static let atomic = Qualifiers(rawValue: 128)
  /// `|`, not visible to the old garbage collector.
  public static let collectorInvisible = Qualifiers(rawValue: 256)

  /// The letters, in the order of their bits.
  static let letters = Array("rnNoORVA|".utf8)
}
