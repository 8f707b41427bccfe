// SPDX-License-Identifier: Apache-2.0
/// Limits that are checked before each allocation of the parser.
///
/// ```swift
/// let deep = String(repeating: "^", count: EncodingLimits.depth + 1) + "i"
/// try TypeEncoding(parsing: deep)  // throws: types nest more than 128 deep
/// ```
///
/// Compilers stay far below all of them; a hostile string is refused early.
public enum EncodingLimits {
  /// The longest string that is parsed, in bytes.
  public static let length = 65_536
  /// The deepest nesting of types, including pointers.
  public static let depth = 128
  /// The largest size of a type in bytes, and the largest number in an encoding.
  public static let size = 0x7FFF_FFFF
  /// The most declared arguments of a signature, without receiver and selector.
  public static let arguments = 254
}
