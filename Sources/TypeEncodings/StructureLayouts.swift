/// True layouts of structures that their encodings cannot tell.
///
/// An encoding drops `packed` and `aligned` attributes, the storage of Apple's bit-fields and the
/// size of 64-bit enums under clang. Register what the compiler really did, by the structure's
/// name, and parse with the result:
///
/// ```swift
/// var layouts = StructureLayouts()
/// layouts["packed"] = .init(size: 13, alignment: 1, fieldOffsets: [0, 1, 9])
/// let type = try TypeEncoding(parsing: "{packed=cdi}", layouts: layouts)
/// try type.layout  // 13/1: size, alignment
/// ```
///
/// A layout describes a structure. Registered for a vector it would pass the vector in two registers,
/// where compilers use one: pass vectors behind pointers.
public struct StructureLayouts: Hashable, Sendable {
  /// The layout of one structure, as its compiler made it.
  public struct Layout: Hashable, Sendable {
    /// The size in bytes.
    public var size: Int
    /// The alignment in bytes, a power of two.
    public var alignment: Int
    /// Where each member begins, in bytes; nil if that is not known.
    public var fieldOffsets: [Int]?

    /// Describes a layout. Without `fieldOffsets` a structure of up to 16 bytes can be measured
    /// but not passed by value, because registers are chosen by its members.
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

  /// No layouts: everything is computed from the string.
  public init() {}

  /// The layout of the structure or union called `name`.
  ///
  /// A layout that no compiler could have made (a size that is not a multiple of the alignment, an
  /// offset behind the end) is not kept: reading it back returns nil.
  public subscript(name: String) -> Layout? {
    get { byName[name] }
    set { byName[name] = newValue.flatMap { $0.isPlausible ? $0 : nil } }
  }

  var isEmpty: Bool { byName.isEmpty }
}
