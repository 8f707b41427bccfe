// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The types of a signature, laid out.
final class ParsedSignature: Sendable {
  let tree: EncodingTree
  /// The index of each type in the tree: the result, then the arguments.
  let roots: [Int32]
  let shape: MethodSignature.Shape

  init(
    _ bytes: [UInt8], _ layouts: StructureLayouts, for machine: Machine = .own
  ) throws(TypeEncodingError) {
    var parser = try EncodingParser(bytes, layouts: layouts, for: machine)
    try EncodingBytes.checkUTF8(bytes)
    roots = try parser.parseSignature()
    shape = parser.shape(of: roots)
    tree = EncodingTree(bytes, parser.nodes, for: machine)
  }
}

/// The text of a valid signature, and its types, which are laid out on first use.
///
/// A signature is often only compared, counted or looked up, which needs no layouts.
final class SignatureSource: Sendable {
  private let text: String
  private let known = AtomicLazyReference<ParsedSignature>()
  private let memo = AtomicLazyReference<SignatureMemo>()
  /// The word that was remembered; 0 if there is no such word yet.
  let memoWord = Atomic<UInt>(0)

  /// Uses a text that ``SignatureGlance`` accepts.
  init(_ text: String) { self.text = text }

  init(_ parsed: ParsedSignature) {
    text = ""
    _ = known.storeIfNil(parsed)
  }

  var parsed: ParsedSignature {
    if let known = known.load() { return known }
    return known.storeIfNil(lay(out: text))
  }

  /// Stores a word for the lifetime of this object. Only the first word is stored.
  func remember(_ word: UInt, keeping keeper: SignatureMemo) {
    guard memo.storeIfNil(keeper) === keeper else { return }
    memoWord.store(word, ordering: .releasing)
  }

  private func lay(out text: String) -> ParsedSignature {
    do throws(TypeEncodingError) {
      return try ParsedSignature(EncodingBytes.of(text), StructureLayouts())
    } catch {
      // Unreachable for any text. A glance accepts `v` as the result only, letters that are a whole
      // type to the parser, at most nine digits behind each, and at most 33 letters, so the parser
      // has no reason to refuse. GlanceTests compare the two.
      preconditionFailure("a glance took what the parser refuses: \(error)")
    }
  }
}

/// A fast check of signatures of plain types, which allocates nothing.
///
/// It accepts types of one letter, and digits behind them. Other texts may be valid too, and are
/// parsed.
struct SignatureGlance {
  private(set) var argumentCount = -1

  private static var limit: Int { 32 }
  /// The letters of the result and the first two arguments, the last one in the lowest byte.
  private var first: UInt32 = 0
  private var digits = 0

  /// Whether the arguments begin with an object or a class, followed by a selector.
  var isMethod: Bool {
    let object = UInt8(truncatingIfNeeded: first >> 8)
    return argumentCount > 1 && UInt8(truncatingIfNeeded: first) == UInt8(ascii: ":")
      && (object == UInt8(ascii: "@") || object == UInt8(ascii: "#"))
  }

  /// Returns nil if the text must be parsed.
  init?(_ text: String) {
    #if os(Linux)
      // The same loop as below, on the string's own storage.
      let bytes = text.utf8.span
      for index in bytes.indices {
        guard take(bytes[index]) else { return nil }
      }
    #else
      for byte in text.utf8 {
        guard take(byte) else { return nil }
      }
    #endif
    guard argumentCount >= 0 else { return nil }
  }

  /// Accepts the next byte; false if the text must be parsed.
  @inline(__always)
  private mutating func take(_ byte: UInt8) -> Bool {
    if byte &- UInt8(ascii: "0") < 10 {
      digits &+= 1
      // A number of more than nine digits may exceed the parser's limit.
      return argumentCount >= 0 && digits <= 9
    }
    guard Self.isPlain(byte) || (byte == UInt8(ascii: "v") && argumentCount < 0) else {
      return false
    }
    // The limit is far below the parser's, so a text of megabytes is handed to the parser early,
    // and refused there.
    guard argumentCount < Self.limit else { return false }
    argumentCount &+= 1
    digits = 0
    if argumentCount <= 2 { first = first &<< 8 | UInt32(byte) }
    return true
  }

  /// Whether a letter is a whole type of a value. Bit n of the two words is for ASCII code n.
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte < 64
      ? plainBelow64 & (1 << UInt64(byte)) != 0
      : byte < 128 && plainFrom64 & (1 << UInt64(byte & 63)) != 0
  }

  // Computed from constants, so the compiler folds the two words into the code.
  private static var plainBelow64: UInt64 { bit("#") | bit("*") | bit(":") }
  private static var plainFrom64: UInt64 {
    let integers: UInt64 = bit("c") | bit("C") | bit("s") | bit("S") | bit("i") | bit("I")
    let wide: UInt64 = bit("l") | bit("L") | bit("q") | bit("Q") | bit("t") | bit("T")
    return integers | wide | bit("f") | bit("d") | bit("D") | bit("B") | bit("@")
  }

  @inline(__always)
  private static func bit(_ letter: Unicode.Scalar) -> UInt64 { 1 << UInt64(letter.value & 63) }
}
