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
/// `==` compares spellings; ``isEquivalent(to:)`` compares how values are stored and passed.
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
    try self.init(parsingUTF8: EncodingBytes.of(encoding), layouts: layouts)
  }

  /// Parses one type from bytes, which must be valid UTF-8.
  ///
  /// - Throws: ``TypeEncodingError`` if they are not one type.
  public init(
    parsingUTF8 bytes: [UInt8], layouts: StructureLayouts = StructureLayouts()
  ) throws(TypeEncodingError) {
    try self.init(utf8: bytes, layouts: layouts, for: .own)
  }

  /// Parses one type with the layouts of another machine.
  package init(
    utf8 bytes: [UInt8], layouts: StructureLayouts = StructureLayouts(), for machine: Machine
  ) throws(TypeEncodingError) {
    var parser = try EncodingParser(bytes, layouts: layouts, for: machine)
    try EncodingBytes.checkUTF8(bytes)
    try parser.parseType(.single)
    if !parser.atEnd { throw parser.error(.trailingCharacters) }
    self.init(tree: EncodingTree(bytes, parser.nodes, for: machine), index: 0)
  }

  var node: EncodingNode { tree.nodes[index] }

  /// The qualifiers in front of the type, in any order.
  public var qualifiers: Qualifiers {
    tree.bytes[Int(node.start)..<Int(node.base)].reduce(into: []) { set, byte in
      if let one = Qualifiers.letter(byte) { set.insert(one) }
    }
  }

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

/// Converts the two kinds of input to bytes.
enum EncodingBytes {
  /// The bytes of a string, but only as many as the parser needs to refuse it as too long.
  static func of(_ string: String) -> [UInt8] {
    Array(string.utf8.prefix(EncodingLimits.length + 1))
  }

  static func checkUTF8(_ bytes: [UInt8]) throws(TypeEncodingError) {
    if bytes.allSatisfy({ $0 < 0x80 }) { return }
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var offset = 0
    while true {
      switch decoder.decode(&iterator) {
      case .scalarValue(let scalar): offset += UTF8.width(scalar)
      case .emptyInput: return
      case .error:
        throw TypeEncodingError(
          reason: .invalidUTF8, offset: offset, encoding: String(decoding: bytes, as: UTF8.self))
      }
    }
  }
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

  /// One spelling for all equivalent types, such as `^c` for `*` and `@` for `@"NSString"`.
  ///
  /// Parsing it returns an equivalent type with the same canonical spelling. It does not include
  /// registered layouts of structures.
  public var canonicalSpelling: String {
    String(decoding: EncodingPrinter.structure(of: self, for: .reading), as: UTF8.self)
  }

  /// Whether values of the two types are stored and passed in the same way.
  ///
  /// Names and qualifiers do not count, `*` equals `^c`, and all kinds of objects are equal. Behind
  /// a pointer a named structure is identified by its name, with or without a body.
  public func isEquivalent(to other: TypeEncoding) -> Bool {
    EncodingPrinter.structure(of: self, for: .equivalence)
      == EncodingPrinter.structure(of: other, for: .equivalence)
  }
}
