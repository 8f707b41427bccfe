/// Bounds that every parse checks before it allocates.
///
/// ```swift
/// let deep = String(repeating: "^", count: EncodingLimits.depth + 1) + "i"
/// try TypeEncoding(parsing: deep)  // throws: types nest more than 128 deep
/// ```
///
/// A compiler stays far below all of them; a hostile string meets one early.
public enum EncodingLimits {
  /// The longest string that is read, in bytes.
  public static let length = 65_536
  /// How deeply types may nest, pointers included.
  public static let depth = 128
  /// The largest element count of an array.
  public static let elements = 0x7FFF_FFFF
  /// The largest size of a type, in bytes.
  public static let size = 0x7FFF_FFFF
  /// The largest number written after a type as its offset.
  public static let advisoryOffset = 0x7FFF_FFFF
  /// The widest bit-field that may be written, in bits.
  public static let bitFieldWidth = 255
  /// The most declared arguments of a signature; receiver and selector do not count.
  public static let arguments = 254
}
