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

  /// The qualifiers in front of the type, in any order.
  public var qualifiers: Qualifiers {
    tree.bytes[Int(node.start)..<Int(node.base)].reduce(into: []) { set, byte in
      let bit = Qualifiers.letters.firstIndex(of: byte) ?? 0
      set.insert(Qualifiers(rawValue: 1 << UInt16(bit)))
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
