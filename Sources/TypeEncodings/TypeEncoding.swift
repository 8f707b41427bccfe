// SPDX-License-Identifier: Apache-2.0
/// A C type in the encoding of Objective-C.
///
/// An encoding describes how a value is *stored and passed*, not its meaning: `char` and `BOOL`
/// share `c` on some platforms, and every object is `@`.
///
/// ```swift
/// let point = try TypeEncoding(parsing: "{_Point=dd}")
/// try point.layout           // 16/8: size, alignment
/// String(describing: point)  // "{_Point=dd}"
/// ```
///
/// `==` compares spellings; equal ``canonicalSpelling``s mean that values are stored and passed alike.
public struct TypeEncoding: Sendable {
  let tree: EncodingTree
  let index: Int

  init(tree: EncodingTree, index: Int) {
    self.tree = tree
    self.index = index
  }

  /// Parses one type that takes up the whole string.
  ///
  /// The string may be untrusted: parsing always ends, within ``EncodingLimits``.
  ///
  /// - Throws: ``TypeEncodingError`` if the string is not one type.
  public init(
    parsing encoding: String, layouts: StructureLayouts = StructureLayouts()
  ) throws(TypeEncodingError) {
    try self.init(utf8: EncodingParser.bytes(of: encoding), layouts: layouts)
  }

  /// Parses one type from bytes, with the layouts of some machine.
  package init(
    utf8 bytes: [UInt8], layouts: StructureLayouts = StructureLayouts(),
    for machine: Machine = .own
  ) throws(TypeEncodingError) {
    var parser = try EncodingParser(bytes, layouts: layouts, for: machine)
    try parser.parseType(.single)
    if !parser.atEnd { throw parser.error(.trailingCharacters) }
    self.init(tree: EncodingTree(parser), index: 0)
  }

  var node: EncodingNode { tree.nodes[index] }

  /// The letters in front of the type, which describe its use: `r` const, `n` in, `N` inout, `o` out,
  /// `O` bycopy, `R` byref, `V` oneway, `A` atomic, `|` invisible to the old garbage collector.
  public var qualifiers: String { tree.text(node.start, node.base) }

  /// The direct children of this type, in order.
  var children: [TypeEncoding] {
    var result: [TypeEncoding] = []
    var child = index + 1
    while child < Int(node.next) {
      result.append(TypeEncoding(tree: tree, index: child))
      child = Int(tree.nodes[child].next)
    }
    return result
  }
}

extension TypeEncoding {
  /// The kind of a type, one level deep.
  public enum Kind: Hashable, Sendable {
    /// `v`.
    case void
    /// A number type.
    case scalar(Scalar)
    /// `j`, a complex number of two parts.
    case complex(Scalar)
    /// `*`, a C string.
    case cString
    /// `%`, a string of the old runtime that is unique for its text.
    case atom
    /// `@`, with the quoted class and protocols if they are given.
    case object(className: String?)
    /// `@?`, with result and arguments if they are given.
    case block(types: [TypeEncoding]?)
    /// `#`.
    case classReference
    /// `:`.
    case selector
    /// `^`.
    case pointer(to: TypeEncoding)
    /// `?` behind `^`: a function, or a type that the compiler cannot encode.
    case unknown
    /// `[12i]`.
    case array(count: Int, element: TypeEncoding)
    /// `{name=…}`; without `=` the members are nil.
    case structure(name: String, members: [Member]?)
    /// `(name=…)`.
    case union(name: String, members: [Member]?)
    /// `b3`, or `b8I3` with the position and the storage type.
    case bitField(width: Int, storage: Scalar?, position: Int?)
    /// `![16,16f]`, or `<4f>`, which does not determine its layout.
    case vector(count: Int, element: TypeEncoding)
  }

  /// The kind of the type.
  public var kind: Kind {
    let node = node
    func name() -> String { tree.text(node.nameStart, node.nameEnd) }
    func first() -> TypeEncoding { TypeEncoding(tree: tree, index: index + 1) }
    return switch node.form {
    case .void: .void
    case .scalar: .scalar(node.scalar)
    case .complex: .complex(node.scalar)
    case .cString: .cString
    case .atom: .atom
    case .object: .object(className: node.hasBody ? name() : nil)
    case .block: .block(types: node.hasBody ? children : nil)
    case .classReference: .classReference
    case .selector: .selector
    case .pointer: .pointer(to: first())
    case .unknown: .unknown
    case .array: .array(count: node.count, element: first())
    case .structure: .structure(name: name(), members: members)
    case .union: .union(name: name(), members: members)
    case .bitField:
      .bitField(
        width: node.count, storage: node.hasBody ? node.scalar : nil,
        position: node.hasBody ? node.position : nil)
    case .vector, .simd: .vector(count: node.count, element: first())
    }
  }

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

/// The size and alignment of a type, in bytes.
///
/// ```swift
/// try TypeEncoding(parsing: "{mixed=cd}").layout  // 16/8
/// ```
public struct TypeLayout: Hashable, Sendable {
  /// The value of `sizeof`.
  public var size: Int
  /// The value of `_Alignof`.
  public var alignment: Int

  /// Creates a layout.
  package init(size: Int, alignment: Int) {
    self.size = size
    self.alignment = alignment
  }
}

extension TypeLayout: CustomStringConvertible {
  public var description: String { "\(size)/\(alignment)" }
}

extension TypeEncoding: Hashable {
  /// Whether two types have the same spelling, ignoring advisory numbers inside structures.
  public static func == (one: TypeEncoding, other: TypeEncoding) -> Bool {
    (one.tree === other.tree && one.index == other.index)
      || EncodingPrinter.spelling(of: one) == EncodingPrinter.spelling(of: other)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(EncodingPrinter.spelling(of: self))
  }
}

extension TypeEncoding: CustomStringConvertible {
  /// The type as it was written, including qualifiers and names.
  public var description: String {
    String(decoding: EncodingPrinter.spelling(of: self), as: UTF8.self)
  }

  /// One spelling for all types whose values are stored and passed in the same way, such as `^c` for
  /// `*` and `@` for `@"NSString"`.
  ///
  /// Names and qualifiers do not count, but behind a pointer a structure is its name, with or without
  /// a body. Registered layouts are not included. Parsing it returns a type with the same spelling.
  public var canonicalSpelling: String {
    String(decoding: EncodingPrinter.structure(of: self), as: UTF8.self)
  }
}
