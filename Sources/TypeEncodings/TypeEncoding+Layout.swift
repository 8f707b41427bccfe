// SPDX-License-Identifier: Apache-2.0
/// The size and alignment of a type, in bytes.
///
/// ```swift
/// try TypeEncoding(parsing: "{mixed=cd}").layout  // 16/8
/// TypeLayout(size: 16, alignment: 8).size         // 16
/// ```
public struct TypeLayout: Hashable, Sendable {
  /// The value of `sizeof`.
  public var size: Int
  /// The value of `_Alignof`.
  public var alignment: Int

  /// Creates a layout.
  public init(size: Int, alignment: Int) {
    self.size = size
    self.alignment = alignment
  }
}

extension TypeLayout: CustomStringConvertible {
  public var description: String { "\(size)/\(alignment)" }
}

extension TypeEncoding {
  /// The size and alignment of the type under the C compiler of this platform; `v` has size 0.
  ///
  /// - Throws: ``TypeEncodingError`` if the string does not determine them.
  public var layout: TypeLayout {
    get throws(TypeEncodingError) {
      let node = node
      if let fault = node.fault {
        throw TypeEncodingError(
          reason: fault, offset: Int(node.faultOffset), encoding: tree.whole)
      }
      return TypeLayout(size: Int(node.size), alignment: Int(node.alignment))
    }
  }

  /// A member of a structure or union.
  public struct Member: Sendable, Hashable {
    /// The name in quotes, which only the encodings of instance variables have.
    public var name: String?
    /// The member's type.
    public var type: TypeEncoding
    /// The offset in bits; nil if unknown.
    public var bitOffset: Int?
    /// The offset in bytes, rounded down; nil if unknown.
    public var offset: Int? { bitOffset.map { $0 / 8 } }
  }

  /// The members of a structure or union; nil if the body is not given, and for other types.
  public var members: [Member]? {
    guard node.hasBody, node.form == .structure || node.form == .union else { return nil }
    return children.map { child in
      let node = child.node
      let name = node.labelEnd > 0 ? tree.text(node.labelStart, node.labelEnd) : nil
      return Member(
        name: name, type: child, bitOffset: node.hasPosition ? node.position : nil)
    }
  }
}
