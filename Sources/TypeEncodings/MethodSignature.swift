// SPDX-License-Identifier: Apache-2.0
/// The result and argument types of a method, a block or a plain function.
///
/// ```swift
/// let signature = try MethodSignature(parsing: "i24@0:8i16i20")
/// signature.numberOfArguments                           // 4: receiver and selector count
/// try signature.argumentType(at: 2)                     // i
/// try signature == MethodSignature(parsing: "i@:ii")    // true: the digits are advice
/// ```
///
/// It offers the properties of `NSMethodSignature`, under the same names. Differences: a malformed
/// string throws an error with its offset; unions, bit-fields and 128-bit integers are supported;
/// equality is structural (see ``==(_:_:)``).
public struct MethodSignature: Sendable {
  let source: SignatureSource
  /// The number of arguments, including a method's receiver and selector.
  public let numberOfArguments: Int
  /// Whether the text is part of the program; only such signatures are cached.
  package let isStatic: Bool
  /// The kind of call, as the first arguments show it.
  public let shape: Shape

  /// How a call with this signature begins.
  public enum Shape: Hashable, Sendable {
    /// The first arguments are a receiver and a selector: `v@:`.
    case method
    /// The first argument is a block: `v@?`.
    case block
    /// Neither: `ddd`.
    case function
  }

  /// Parses a signature: the result, then each argument, with or without offset digits. The string
  /// may be untrusted: it is never added to a cache.
  ///
  /// - Throws: ``TypeEncodingError`` if the string is not a signature.
  public init(
    parsing encoding: String, layouts: StructureLayouts = StructureLayouts()
  ) throws(TypeEncodingError) {
    try self.init(utf8: EncodingBytes.of(encoding), layouts: layouts, isStatic: false)
  }

  /// Parses a signature from bytes, which must be valid UTF-8; otherwise like a string.
  public init(
    parsingUTF8 bytes: [UInt8], layouts: StructureLayouts = StructureLayouts()
  ) throws(TypeEncodingError) {
    try self.init(utf8: bytes, layouts: layouts, isStatic: false)
  }

  /// Parses the signature of a method: `encoding` must begin with a result, `@` and `:`, and have
  /// as many declared arguments as `selector` has colons.
  ///
  /// - Throws: ``TypeEncodingError`` if it does not, or is not a signature.
  public init(
    method encoding: String, selector: String? = nil,
    layouts: StructureLayouts = StructureLayouts()
  ) throws(TypeEncodingError) {
    try self.init(parsing: encoding, layouts: layouts)
    guard shape == .method else {
      let offset = roots.count > 1 ? Int(tree.nodes[Int(roots[1])].start) : encoding.utf8.count
      throw TypeEncodingError(reason: .notAMethod, offset: offset, encoding: encoding)
    }
    if let selector { try checkArity(ofSelector: selector) }
  }

  /// Parses a signature. `isStatic` means that the text is part of the program, or derived from its
  /// Swift types, so that there are finitely many.
  package init(
    utf8 bytes: [UInt8], layouts: StructureLayouts, isStatic: Bool
  ) throws(TypeEncodingError) {
    try self.init(utf8: bytes, layouts: layouts, isStatic: isStatic, for: .own)
  }

  /// Parses a signature with the layouts of another machine, for which no call is planned.
  package init(
    utf8 bytes: [UInt8], layouts: StructureLayouts = StructureLayouts(), isStatic: Bool = false,
    for machine: Machine
  ) throws(TypeEncodingError) {
    let parsed = try ParsedSignature(bytes, layouts, for: machine)
    source = SignatureSource(parsed)
    numberOfArguments = parsed.roots.count - 1
    shape = parsed.shape
    self.isStatic = isStatic && layouts.isEmpty
  }

  /// A copy of the signature that remembers nothing.
  package init(remindedOfNothing other: MethodSignature) {
    source = SignatureSource(other.source.parsed)
    source.remember(0, keeping: SignatureMemo.none)
    numberOfArguments = other.numberOfArguments
    isStatic = other.isStatic
    shape = other.shape
  }

  var tree: EncodingTree { source.parsed.tree }
  /// The machine that determines the layouts of the types.
  package var machine: Machine { tree.machine }
  /// The index of each type in the tree: the result, then the arguments.
  var roots: [Int32] { source.parsed.roots }

  // MARK: The properties of NSMethodSignature

  /// The number of arguments without a method's receiver and selector.
  public var numberOfDeclaredArguments: Int {
    numberOfArguments - numberOfHiddenArguments
  }

  /// The number of arguments in front of the declared ones: 2 for a method, 1 for a block.
  public var numberOfHiddenArguments: Int {
    switch shape {
    case .method: 2
    case .block: 1
    case .function: 0
    }
  }

  /// Returns the type of an argument, including qualifiers; 0 is a method's receiver.
  ///
  /// - Throws: ``SignatureIndexError`` if the index is out of range.
  public func argumentType(at index: Int) throws(SignatureIndexError) -> TypeEncoding {
    guard (0..<numberOfArguments).contains(index) else {
      throw SignatureIndexError(index: index, count: numberOfArguments)
    }
    return TypeEncoding(tree: tree, index: Int(roots[index + 1]))
  }

  /// The types of all arguments, in order.
  public var argumentTypes: [TypeEncoding] {
    let tree = tree
    return roots.dropFirst().map { TypeEncoding(tree: tree, index: Int($0)) }
  }

  /// The type of the result.
  public var resultType: TypeEncoding { TypeEncoding(tree: tree, index: Int(roots[0])) }

  /// The size of the result in bytes; 0 for `v`.
  ///
  /// - Throws: ``TypeEncodingError`` if the string does not determine the size.
  public var resultLength: Int {
    get throws(TypeEncodingError) { try resultType.layout.size }
  }

  /// The size of the arguments one after the other, each in whole words. The number is specific to
  /// this package, as in every implementation; the digits in the string are ignored.
  ///
  /// - Throws: ``TypeEncodingError`` if the string does not determine the size of an argument.
  public var frameLength: Int {
    get throws(TypeEncodingError) {
      var length = 0
      for type in argumentTypes {
        let layout = type.isArray ? Self.word : try type.layout
        length = AggregateLayout.roundUp(length, to: min(16, max(8, layout.alignment)))
        length += AggregateLayout.roundUp(layout.size, to: 8)
      }
      return length
    }
  }

  /// Whether the result has the qualifier `V`: a remote sender would not wait for an answer.
  public var isOneway: Bool { resultType.node.isOneway }

  /// The number behind an argument, or nil. It is a hint of the compiler, and never used.
  public func advisoryOffset(at index: Int) throws(SignatureIndexError) -> Int? {
    let node = try argumentType(at: index).node
    return node.hasPosition ? node.position : nil
  }

  /// The number behind the result, or nil.
  public var advisoryFrameLength: Int? {
    let node = resultType.node
    return node.hasPosition ? node.position : nil
  }

  /// Checks that `selector` has one colon for each declared argument.
  ///
  /// clang writes nothing for a vector; the signature is then one argument short, and only this
  /// check detects it.
  public func checkArity(ofSelector selector: String) throws(TypeEncodingError) {
    try checkArity(ofColons: selector.utf8.count { $0 == UInt8(ascii: ":") }, in: selector)
  }

  /// Checks the number of colons of a selector.
  package func checkArity(
    ofColons colons: Int, in selector: @autoclosure () -> String
  ) throws(TypeEncodingError) {
    guard colons == numberOfDeclaredArguments else {
      throw TypeEncodingError(
        reason: .selectorArity(
          selector: String(selector().prefix(64)), colons: colons,
          arguments: numberOfDeclaredArguments),
        offset: tree.bytes.count, encoding: tree.whole)
    }
  }

  private static var word: TypeLayout {
    TypeLayout(size: Int.bitWidth / 8, alignment: Int.bitWidth / 8)
  }
}

/// An argument index that is out of range.
///
/// ```swift
/// let signature = try MethodSignature(parsing: "ddd")
/// try signature.argumentType(at: 2)  // throws: argument 2 was asked for, but the arguments are 0 to 1
/// ```
public struct SignatureIndexError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The index.
  public var index: Int
  /// The number of arguments.
  public var count: Int

  /// Creates the error for an index that is not below `count`.
  public init(index: Int, count: Int) {
    self.index = index
    self.count = count
  }

  public var description: String {
    count == 0
      ? "argument \(index) was asked for, but there are no arguments"
      : "argument \(index) was asked for, but the arguments are 0 to \(count - 1)"
  }
}

extension MethodSignature: Hashable {
  /// Whether the two describe the same call, by structure and layout, not by spelling.
  ///
  /// Offset digits, qualifiers, names in quotes and the names of structures are ignored. The
  /// members of structures are compared, and so is whether a word is an object, a class or a block.
  public static func == (one: MethodSignature, other: MethodSignature) -> Bool {
    one.source === other.source || one.source.parsed === other.source.parsed
      || one.identity == other.identity
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(identity) }

  /// Bytes that are equal if and only if the signatures are equal.
  package var identity: [UInt8] {
    let tree = tree
    return roots.reduce(into: []) { bytes, root in
      let type = TypeEncoding(tree: tree, index: Int(root))
      bytes += EncodingPrinter.structure(of: type, for: .identity)
    }
  }
}

extension MethodSignature: CustomStringConvertible {
  /// The types as they were written, without the offset digits.
  public var description: String {
    let tree = tree
    return roots.map { TypeEncoding(tree: tree, index: Int($0)).description }.joined()
  }

  /// The signature for a message, as `(Int32) -> Bool (B@:i)`.
  package var title: String {
    func name(_ type: TypeEncoding) -> String { type.swiftName ?? "\(type)" }
    let declared = argumentTypes.dropFirst(numberOfHiddenArguments).map(name)
    return "(\(declared.joined(separator: ", "))) -> \(name(resultType)) (\(self))"
  }

  /// The canonical spellings of the types; the same for equal signatures.
  public var canonicalSpelling: String {
    let tree = tree
    return roots.map { TypeEncoding(tree: tree, index: Int($0)).canonicalSpelling }.joined()
  }
}

extension TypeEncoding {
  /// The bytes that signatures compare for this type.
  package var identity: [UInt8] { EncodingPrinter.structure(of: self, for: .identity) }

  /// The type for a message: its Swift type or kind, and its encoding, as `Int32 (i)`.
  package var title: String {
    let kindName: String? =
      switch kind {
      case .object: "an object"
      case .block: "a block"
      case .classReference: "a class"
      case .pointer: "a pointer"
      case .array: "an array"
      case .structure: "a structure"
      case .union: "a union"
      default: nil
      }
    return (swiftName ?? kindName).map { "\($0) (\(self))" } ?? "\(self)"
  }

  /// The Swift type of the same values, if there is one in the standard library or this package.
  package var swiftName: String? {
    switch kind {
    case .void: "Void"
    case .scalar(let scalar): scalar.swiftName
    case .cString: "String"
    case .selector: "Selector"
    default: nil
    }
  }

  package var isArray: Bool { node.form == .array }
  package var isVoid: Bool { node.form == .void }
}
