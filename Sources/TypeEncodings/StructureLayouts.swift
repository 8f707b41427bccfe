// SPDX-License-Identifier: Apache-2.0
/// The real layouts of structures whose encodings do not determine them.
///
/// An encoding omits the attributes `packed` and `aligned`, the storage of Apple's bit-fields, and
/// the size of 64-bit enums under clang. Register the compiler's layout under the structure's name,
/// and parse with the result:
///
/// ```swift
/// var layouts = StructureLayouts()
/// layouts["packed"] = .init(size: 13, alignment: 1, fieldOffsets: [0, 1, 9])
/// let type = try TypeEncoding(parsing: "{packed=cdi}", layouts: layouts)
/// try type.layout  // 13/1: size, alignment
/// ```
///
/// A layout is for structures only. A vector with a registered layout would be passed in two
/// registers, but compilers use one: pass vectors by pointer.
public struct StructureLayouts: Hashable, Sendable {
  /// The layout of one structure, as determined by its compiler.
  public struct Layout: Hashable, Sendable {
    /// The size in bytes.
    package var size: Int
    /// The alignment in bytes, a power of two.
    package var alignment: Int
    /// The offset of each member in bytes; nil if unknown.
    package var fieldOffsets: [Int]?

    /// Creates a layout. Without `fieldOffsets` a structure of up to 16 bytes has a size, but
    /// cannot be passed by value, because its members determine the registers.
    public init(size: Int, alignment: Int, fieldOffsets: [Int]? = nil) {
      self.size = size
      self.alignment = alignment
      self.fieldOffsets = fieldOffsets
    }

    var isPlausible: Bool {
      size >= 0 && size <= EncodingLimits.size && alignment > 0 && alignment <= 4096
        && alignment & (alignment - 1) == 0 && size % alignment == 0
        && (fieldOffsets ?? []).allSatisfy { (0...size).contains($0) }
    }
  }

  private var byName = [String: Layout]()

  /// Creates an empty table: all layouts are computed from the string.
  public init() {}

  /// The layout of the structure or union called `name`.
  ///
  /// A layout that no compiler produces (a size that is not a multiple of the alignment, an offset
  /// behind the end) is not stored: reading it returns nil.
  public subscript(name: String) -> Layout? {
    get { byName[name] }
    set { byName[name] = newValue.flatMap { $0.isPlausible ? $0 : nil } }
  }

  var isEmpty: Bool { byName.isEmpty }
}
