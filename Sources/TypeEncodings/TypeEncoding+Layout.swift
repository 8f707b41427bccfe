/// The size and alignment of a type, in bytes.
///
/// ```swift
/// try TypeEncoding(parsing: "{mixed=cd}").layout  // 16/8
/// TypeLayout(size: 16, alignment: 8).size         // 16
/// ```
public struct TypeLayout: Hashable, Sendable {
  /// What `sizeof` says.
  public var size: Int
  /// What `_Alignof` says.
  public var alignment: Int

  /// Makes a layout of two numbers.
  public init(size: Int, alignment: Int) {
    self.size = size
    self.alignment = alignment
  }
}

extension TypeLayout: CustomStringConvertible {
  public var description: String { "\(size)/\(alignment)" }
}

extension TypeEncoding {
  /// The size and alignment that the C compiler of this platform gives the type.
  ///
  /// `v` has size 0. Throws where the string does not tell, with the byte to blame.
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
    /// The name in quotes, which only instance variables carry.
    public var name: String?
    /// The member's type.
    public var type: TypeEncoding
    /// Where the member begins, in bits from the start; nil where that is not known.
    public var bitOffset: Int?
    /// Where the member begins, in whole bytes from the start.
    public var offset: Int? { bitOffset.map { $0 / 8 } }
  }

  /// The members of a structure or union; nil where the body is not given, or for other types.
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
