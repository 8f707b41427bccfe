// SPDX-License-Identifier: Apache-2.0
/// Finds the end of a structure's name.
///
/// C++ names contain blanks, commas and templates, `{blob<float, 4>=…}`. Between brackets they may
/// also contain the two bytes that end a name: `{S<&operator==>=…}`, `{S<'}'>=…}`. Their brackets
/// are balanced; a text with unbalanced brackets is not a name.
struct NameScanner {
  let bytes: [UInt8]
  let start: Int
  let closer: UInt8
  /// Whether the longest or the shortest possible operator is assumed in a text such as
  /// `operator->`.
  var prefersLongOperators = true

  private var offset: Int
  /// The closing brackets that are expected, the next one last.
  private var awaited: [UInt8] = []

  init(_ bytes: [UInt8], from start: Int, closer: UInt8) {
    self.bytes = bytes
    self.start = start
    self.closer = closer
    offset = start
  }

  /// The end of a name, or the fault in it.
  enum Outcome {
    case ends(at: Int)
    case invalid(TypeEncodingError.Reason, at: Int)
    /// The text ends before the name.
    case unterminated
  }

  mutating func scan() -> Outcome {
    let first = scanOnce()
    if case .ends = first { return first }
    // `C<S<&operator->>` contains the operator `-`, `S<&operator->>` the operator `->`.
    prefersLongOperators = false
    offset = start
    awaited = []
    if case .ends(let end) = scanOnce() { return .ends(at: end) }
    return first
  }

  private mutating func scanOnce() -> Outcome {
    while offset < bytes.count {
      let byte = bytes[offset]
      if awaited.isEmpty, byte == UInt8(ascii: "=") || byte == closer { return .ends(at: offset) }
      if byte < 0x20 || byte == 0x7F { return .invalid(.invalidName, at: offset) }
      guard let length = take(byte) else { return .invalid(.unbalancedName, at: offset) }
      offset += length
    }
    return .unterminated
  }

  /// Returns the length in bytes of the element at `offset`; nil if a bracket has no partner.
  private mutating func take(_ byte: UInt8) -> Int? {
    switch byte {
    case UInt8(ascii: "<"): awaited.append(UInt8(ascii: ">"))
    case UInt8(ascii: "("): awaited.append(UInt8(ascii: ")"))
    case UInt8(ascii: "["), UInt8(ascii: "{"):
      // Only the arguments of templates contain these brackets: `C<int[3]>`, `S<Name{{125, 61},
      // 3}>`.
      if awaited.isEmpty { return nil }
      awaited.append(byte == UInt8(ascii: "[") ? UInt8(ascii: "]") : UInt8(ascii: "}"))
    case UInt8(ascii: ">"), UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
      guard awaited.popLast() == byte else { return nil }
    case UInt8(ascii: "-") where peek(1) == UInt8(ascii: ">") && offset > start:
      // The arrow of a result type, `C<auto (int) -> int>`, follows a blank; that of an operator
      // does not.
      return bytes[offset - 1] == UInt8(ascii: " ") ? 2 : 1
    case UInt8(ascii: "'") where !awaited.isEmpty: return literalLength
    case UInt8(ascii: "o") where !awaited.isEmpty: return operatorLength
    default: break
    }
    return 1
  }

  private func peek(_ ahead: Int) -> UInt8 {
    offset + ahead < bytes.count ? bytes[offset + ahead] : 0
  }

  /// The length of a character literal such as `'}'` or `'\''`; 1 if the quote does not begin one.
  private var literalLength: Int {
    let isEscaped = peek(1) == UInt8(ascii: "\\")
    let lengths = isEscaped ? 4...12 : 3...6
    return lengths.first { peek($0 - 1) == UInt8(ascii: "'") } ?? 1
  }

  /// The length of `operator` with its symbol; 1 for an `o` that does not begin it.
  private var operatorLength: Int {
    guard Self.keyword.indices.allSatisfy({ peek($0) == Self.keyword[$0] }),
      !Self.isWord(bytes[offset - 1])
    else { return 1 }
    let lengths = (1...3).filter { length in
      let symbol = (0..<length).map { peek(Self.keyword.count + $0) }
      return Self.symbols.contains(symbol) && endsArgument(peek(Self.keyword.count + length))
    }
    return Self.keyword.count + ((prefersLongOperators ? lengths.last : lengths.first) ?? 0)
  }

  /// Whether a byte can follow a template's argument.
  private func endsArgument(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ">") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: ")")
      || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "}")
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || byte >= 0x80 || EncodingParser.isDigit(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static let keyword = Array("operator".utf8)
  /// The operators that contain a bracket or a comma; all others need no special treatment.
  private static let symbols = Set(
    ["<", ">", "<<", ">>", "<=", ">=", "<=>", "<<=", ">>=", "->", "->*", "()", "[]", ",", "-"]
      .map { Array($0.utf8) })
}
