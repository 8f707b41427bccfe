/// The name of a message, interned: two selectors of one name are one pointer.
///
/// A literal is a selector. Names that come from outside the program are looked up, not interned:
///
/// ```swift
/// let saved: Selector = "didSave:"
/// saved.numberOfArguments               // 1
/// Selector(existing: "never heard of")  // nil
/// ```
///
/// C functions receive it as a pointer to the name's bytes, which end with NUL and live as long
/// as the process; `printf("%s", _cmd)` works.
public struct Selector: Hashable, Sendable {
  /// The longest name that ``init(interning:)`` takes, in bytes.
  public static let maximumLength = 1024

  // The address of the interned name. An entry is never freed, so the number stays valid.
  @usableFromInline let word: UInt

  @usableFromInline init(word: UInt) { self.word = word }

  /// Interns `name`, which stays for good: for names of the program only.
  public init(interning name: String) throws(InvocationError) {
    guard name.utf8.count <= Self.maximumLength, !name.utf8.contains(0) else {
      throw .invalidSelector(String(name.prefix(64)))
    }
    self = SelectorTable.intern(name)
  }

  /// Finds a selector that is interned already; for names that come from outside.
  public init?(existing name: String) {
    guard let known = SelectorTable.find(name) else { return nil }
    self = known
  }

  /// The name.
  public var name: String { SelectorTable.name(of: self) }

  /// The address of the name's bytes: what C sees as the selector.
  public var address: UInt { word }

  /// How many arguments the selector takes: its colons.
  public var numberOfArguments: Int { name.utf8.count { $0 == UInt8(ascii: ":") } }
}

extension Selector: ExpressibleByStringLiteral {
  /// Interns a name of the program's text. A NUL, which no name can hold, becomes `␀`.
  public init(stringLiteral name: String) {
    let isPlain = !name.utf8.contains(0)
    self = SelectorTable.intern(isPlain ? name : String(name.map { $0 == "\0" ? "␀" : $0 }))
  }
}

extension Selector: CustomStringConvertible {
  public var description: String { name }
}

/// All interned selectors. Entries are never freed: their addresses are in frames and C code.
enum SelectorTable {
  private struct State {
    var byName: [String: Selector] = [:]
    var words: Set<UInt> = []
  }

  private static let state = Guarded(State())

  /// Interns a name without a NUL.
  static func intern(_ name: String) -> Selector {
    if let known = find(name) { return known }
    return state.withLockInPlace { state in
      if let known = state.byName[name] { return known }
      let made = entry(name)
      state.byName[name] = made
      state.words.insert(made.word)
      return made
    }
  }

  static func find(_ name: String) -> Selector? { state.read { $0.byName[name] } }

  /// The name and its NUL, at the address that is the selector.
  private static func entry(_ name: String) -> Selector {
    let bytes = Array(name.utf8) + [0]
    let block = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 16)
    unsafe block.copyMemory(from: bytes, byteCount: bytes.count)
    return Selector(word: UInt(bitPattern: block))
  }

  // SAFETY: a selector's word is only ever made by `entry`, which nobody frees.
  static func name(of selector: Selector) -> String {
    unsafe UnsafePointer<CChar>(bitPattern: selector.word).map { unsafe String(cString: $0) } ?? ""
  }

  /// The selector that a frame holds. Raw bytes can put anything there, so only a word that was
  /// handed out is followed.
  static func selector(ofWord word: UInt64) -> Selector? {
    let word = UInt(word)
    return state.read { $0.words.contains(word) } ? Selector(word: word) : nil
  }
}
