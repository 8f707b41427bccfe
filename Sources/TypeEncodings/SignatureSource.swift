import Synchronization

/// What a signature says, laid out.
final class ParsedSignature: Sendable {
  let tree: EncodingTree
  /// Where each type begins in the tree: the result, then the arguments.
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

/// The text of a valid signature, and its types once somebody asks for them.
///
/// A signature is often only compared, counted or looked up, which needs no types laid out.
final class SignatureSource: Sendable {
  private let text: String
  private let known = AtomicLazyReference<ParsedSignature>()
  private let memo = AtomicLazyReference<SignatureMemo>()
  /// What was remembered, as a number; 0 before that.
  let memoWord = Atomic<UInt>(0)

  /// Takes a text that ``SignatureGlance`` accepts.
  init(_ text: String) { self.text = text }

  init(_ parsed: ParsedSignature) {
    text = ""
    _ = known.storeIfNil(parsed)
  }

  var parsed: ParsedSignature {
    if let known = known.load() { return known }
    return known.storeIfNil(lay(out: text))
  }

  /// Remembers something for as long as this lives, unless something was remembered before.
  func remember(_ word: UInt, keeping keeper: SignatureMemo) {
    guard memo.storeIfNil(keeper) === keeper else { return }
    memoWord.store(word, ordering: .releasing)
  }

  private func lay(out text: String) -> ParsedSignature {
    do throws(TypeEncodingError) {
      return try ParsedSignature(EncodingBytes.of(text), StructureLayouts())
    } catch {
      // Cannot happen, whatever the text: a glance takes `v` as the result alone, letters that are a
      // whole type to the parser, at most nine digits behind each, and at most 33 of them; none of
      // the parser's reasons to refuse is left. GlanceTests compare the two.
      preconditionFailure("a glance took what the parser refuses: \(error)")
    }
  }
}

/// The first look at a signature: enough for those of plain types, and it allocates nothing.
///
/// It accepts types of one letter, and the digits behind them. A text that it does not accept may
/// still be valid, and goes to the parser.
struct SignatureGlance {
  private(set) var argumentCount = -1

  private static var limit: Int { 32 }
  /// The letters of the result and the first two arguments, the last of them lowest.
  private var first: UInt32 = 0
  private var digits = 0

  /// Whether the arguments begin with an object, or a class, and a selector.
  var isMethod: Bool {
    let object = UInt8(truncatingIfNeeded: first >> 8)
    return argumentCount > 1 && UInt8(truncatingIfNeeded: first) == UInt8(ascii: ":")
      && (object == UInt8(ascii: "@") || object == UInt8(ascii: "#"))
  }

  /// nil where a closer look is needed.
  init?(_ text: String) {
    #if os(Linux)
      // The same as below, on the bytes where they lie.
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

  /// Takes the next byte; false if it needs a closer look.
  @inline(__always)
  private mutating func take(_ byte: UInt8) -> Bool {
    if byte &- UInt8(ascii: "0") < 10 {
      digits &+= 1
      // More than nine may be more than the parser allows.
      return argumentCount >= 0 && digits <= 9
    }
    guard Self.isPlain(byte) || (byte == UInt8(ascii: "v") && argumentCount < 0) else {
      return false
    }
    // The limit is far below the parser's; a text of megabytes meets the parser's limits at once.
    guard argumentCount < Self.limit else { return false }
    argumentCount &+= 1
    digits = 0
    if argumentCount <= 2 { first = first &<< 8 | UInt32(byte) }
    return true
  }

  /// The letters of one character that are a value: bit n of the two words is for ASCII code n.
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte < 64
      ? plainBelow64 & (1 << UInt64(byte)) != 0
      : byte < 128 && plainFrom64 & (1 << UInt64(byte & 63)) != 0
  }

  // Computed from constants, so the compiler puts the two words in the code.
  private static var plainBelow64: UInt64 { bit("#") | bit("*") | bit(":") }
  private static var plainFrom64: UInt64 {
    let integers: UInt64 = bit("c") | bit("C") | bit("s") | bit("S") | bit("i") | bit("I")
    let wide: UInt64 = bit("l") | bit("L") | bit("q") | bit("Q") | bit("t") | bit("T")
    return integers | wide | bit("f") | bit("d") | bit("D") | bit("B") | bit("@")
  }

  @inline(__always)
  private static func bit(_ letter: Unicode.Scalar) -> UInt64 { 1 << UInt64(letter.value & 63) }
}
