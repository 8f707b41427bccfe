// SPDX-License-Identifier: Apache-2.0
import Synchronization

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
  /// Whether the text is part of the program; only such signatures are cached.
  package let isStatic: Bool

  /// How a call with this signature begins.
  public enum Shape: Hashable, Sendable {
    /// The first arguments are a receiver and a selector: `v@:`.
    case method
    /// The first argument is a block: `v@?`.
    case block
    /// Neither: `ddd`.
    case function

    var hiddenArguments: Int {
      switch self {
      case .method: 2
      case .block: 1
      case .function: 0
      }
    }
  }

  /// Parses a signature: the result, then each argument, with or without offset digits. The string
  /// may be untrusted: it is never added to a cache.
  ///
  /// - Throws: ``TypeEncodingError`` if the string is not a signature.
  public init(
    parsing encoding: String, layouts: StructureLayouts = StructureLayouts()
  ) throws(TypeEncodingError) {
    try self.init(utf8: EncodingParser.bytes(of: encoding), layouts: layouts)
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
    if let selector {
      try checkArity(ofColons: selector.utf8.count { $0 == UInt8(ascii: ":") }, in: selector)
    }
  }

  /// Parses a signature from bytes. `isStatic` means that the text is part of the program, or derived
  /// from its Swift types, so that there are finitely many. With the layouts of another machine, no
  /// call is planned for it.
  package init(
    utf8 bytes: [UInt8], layouts: StructureLayouts = StructureLayouts(), isStatic: Bool = false,
    for machine: Machine = .own
  ) throws(TypeEncodingError) {
    var parser = try EncodingParser(bytes, layouts: layouts, for: machine)
    let roots = try parser.parseSignature()
    source = SignatureSource(EncodingTree(parser), roots, parser.shape(of: roots))
    self.isStatic = isStatic && layouts.isEmpty
  }

  /// A copy of the signature that remembers nothing.
  package init(remindedOfNothing other: MethodSignature) {
    source = SignatureSource(other.tree, other.roots, other.shape)
    source.remember(0, keeping: SignatureMemo.none)
    isStatic = other.isStatic
  }

  var tree: EncodingTree { source.tree }
  /// The machine that determines the layouts of the types.
  package var machine: Machine { tree.machine }
  /// The index of each type in the tree: the result, then the arguments.
  var roots: [Int32] { source.roots }

  /// The kind of call, as the first arguments show it.
  public var shape: Shape { source.shape }

  // MARK: The properties of NSMethodSignature

  /// The number of arguments, including a method's receiver and selector.
  public var numberOfArguments: Int { source.roots.count - 1 }

  /// The number of arguments without a method's receiver and selector.
  public var numberOfDeclaredArguments: Int {
    numberOfArguments - numberOfHiddenArguments
  }

  /// The number of arguments in front of the declared ones: 2 for a method, 1 for a block.
  package var numberOfHiddenArguments: Int { shape.hiddenArguments }

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
    types.suffix(numberOfArguments)
  }

  /// The result, then the arguments.
  private var types: [TypeEncoding] {
    let tree = tree
    return roots.map { TypeEncoding(tree: tree, index: Int($0)) }
  }

  /// The type of the result.
  public var resultType: TypeEncoding { TypeEncoding(tree: tree, index: Int(roots[0])) }

  /// The size of the result in bytes; 0 for `v`.
  ///
  /// - Throws: ``TypeEncodingError`` if the string does not determine the size.
  public var resultLength: Int {
    get throws(TypeEncodingError) { try resultType.layout.size }
  }

  /// Whether the result has the qualifier `V`: a remote sender would not wait for an answer.
  public var isOneway: Bool { resultType.qualifiers.contains("V") }

  /// The numbers behind the result and the arguments, hints of a compiler that are never used.
  package var advice: [Int?] {
    types.map { $0.node.hasPosition ? $0.node.position : nil }
  }

  /// Checks that a selector has one colon for each declared argument.
  ///
  /// clang writes nothing for a vector; the signature is then one argument short, and only this
  /// check detects it.
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

  // MARK: What users computed from a signature

  /// The word that was stored with this signature or a copy of it; 0 before that. The object that
  /// it stands for lives as long as any of them.
  package var remembered: UInt { source.memoWord.load(ordering: .acquiring) }

  /// Stores a word, and retains the object that it stands for. Only the first word is stored.
  package func remember(_ word: UInt, keeping keeper: SignatureMemo) {
    source.remember(word, keeping: keeper)
  }
}

/// The types of a signature, and what its users computed from them and keep with it.
final class SignatureSource: Sendable {
  let tree: EncodingTree
  /// The index of each type in the tree: the result, then the arguments.
  let roots: [Int32]
  let shape: MethodSignature.Shape
  private let memo = AtomicLazyReference<SignatureMemo>()
  /// The word that was remembered; 0 if there is no such word yet.
  let memoWord = Atomic<UInt>(0)

  init(_ tree: EncodingTree, _ roots: [Int32], _ shape: MethodSignature.Shape) {
    self.tree = tree
    self.roots = roots
    self.shape = shape
  }

  func remember(_ word: UInt, keeping keeper: SignatureMemo) {
    guard memo.storeIfNil(keeper) === keeper else { return }
    memoWord.store(word, ordering: .releasing)
  }
}

/// An object that lives as long as a signature that stores it.
package final class SignatureMemo: Sendable {
  private let value: (any AnyObject & Sendable)?

  package init(_ value: any AnyObject & Sendable) { self.value = value }

  private init() { value = nil }

  /// In place of an object that a signature may not store.
  static let none = SignatureMemo()
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
  package init(index: Int, count: Int) {
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
    one.tree === other.tree || one.identity == other.identity
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(identity) }

  /// Bytes that are equal if and only if the signatures are equal.
  package var identity: [UInt8] {
    types.reduce(into: []) { $0 += $1.identity }
  }
}

extension MethodSignature: CustomStringConvertible {
  /// The types as they were written, without the offset digits.
  public var description: String { types.map(\.description).joined() }

  /// The signature for a message, as `(Int32) -> Bool (B@:i)`.
  package var title: String {
    func name(_ type: TypeEncoding) -> String { type.swiftName ?? "\(type)" }
    let declared = argumentTypes.dropFirst(numberOfHiddenArguments).map(name)
    return "(\(declared.joined(separator: ", "))) -> \(name(resultType)) (\(self))"
  }

  /// The canonical spellings of the types; the same for equal signatures.
  public var canonicalSpelling: String { types.map(\.canonicalSpelling).joined() }
}

extension TypeEncoding {
  /// The bytes that signatures compare for this type.
  package var identity: [UInt8] { EncodingPrinter.structure(of: self, isIdentity: true) }

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
