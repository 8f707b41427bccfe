/// A C type as Objective-C spells it.
///
/// An encoding describes how a value is *stored and passed*, not what it means: `char` and `BOOL`
/// on some platforms share `c`, and every object is `@`.
///
/// ```swift
/// let point = try TypeEncoding(parsing: "{_Point=dd}")
/// try point.layout           // 16/8: size, alignment
/// String(describing: point)  // "{_Point=dd}"
/// ```
///
/// `==` compares spellings; ``isEquivalent(to:)`` compares what the machine sees.
public struct TypeEncoding: Sendable {
  let tree: EncodingTree
  let index: Int

  init(tree: EncodingTree, index: Int) {
    self.tree = tree
    self.index = index
  }

  /// Reads one type that takes up the whole string.
  ///
  /// The string may come from anywhere: parsing always ends, within ``EncodingLimits``.
  public init(
    parsing encoding: String, layouts: StructureLayouts = StructureLayouts()
  ) throws(TypeEncodingError) {
    try self.init(parsingUTF8: EncodingBytes.of(encoding), layouts: layouts)
  }

  /// Reads one type from bytes, which are checked to be UTF-8.
  public init(
    parsingUTF8 bytes: [UInt8], layouts: StructureLayouts = StructureLayouts()
  ) throws(TypeEncodingError) {
    try self.init(utf8: bytes, layouts: layouts, for: .own)
  }

  /// The same, with the layouts of a machine that need not be this one.
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

  /// The qualifiers in front of the type, whatever their order.
  public var qualifiers: Qualifiers {
    tree.bytes[Int(node.start)..<Int(node.base)].reduce(into: []) { set, byte in
      if let one = Qualifiers.letter(byte) { set.insert(one) }
    }
  }

  /// The types directly inside this one, in order.
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

/// How the two kinds of input become bytes.
enum EncodingBytes {
  /// The bytes of a string, never more than the parser will refuse as too long.
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
  /// Whether two types are spelled alike, advisory numbers inside of structures aside.
  public static func == (one: TypeEncoding, other: TypeEncoding) -> Bool {
    (one.tree === other.tree && one.index == other.index)
      || EncodingPrinter.spelling(of: one) == EncodingPrinter.spelling(of: other)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(EncodingPrinter.spelling(of: self))
  }
}

extension TypeEncoding: CustomStringConvertible {
  /// The type as it was written, qualifiers and names included.
  public var description: String {
    String(decoding: EncodingPrinter.spelling(of: self), as: UTF8.self)
  }

  /// One spelling for all equivalent types, such as `^c` for `*` and `@` for `@"NSString"`.
  ///
  /// Parsing it returns a type that is equivalent and has the same canonical spelling. Layouts that
  /// were registered for a structure are not part of it.
  public var canonicalSpelling: String {
    String(decoding: EncodingPrinter.structure(of: self, for: .reading), as: UTF8.self)
  }

  /// Whether the machine treats values of the two types alike.
  ///
  /// Names and qualifiers do not count, `*` is `^c`, and all kinds of objects are one. Behind a
  /// pointer a named structure is known by its name, with or without a body.
  public func isEquivalent(to other: TypeEncoding) -> Bool {
    EncodingPrinter.structure(of: self, for: .equivalence)
      == EncodingPrinter.structure(of: other, for: .equivalence)
  }
}
