/// The name of a message, interned: two selectors of one name are one pointer.
///
/// C functions receive it as a pointer to the name's bytes, which end with NUL and live as long
/// as the process; `printf("%s", _cmd)` works.
public struct Selector: Hashable, Sendable {
  /// The longest name, in bytes.
  public static let maximumLength = 1024

  // The address of the interned name. An entry is never freed, so the number stays valid.
  @usableFromInline let word: UInt

  @usableFromInline init(word: UInt) { self.word = word }

  /// Interns `name`. Names of the program only: an interned name stays for good.
  public init(_ name: String) throws(InvocationError) {
    self = try SelectorTable.intern(name)
  }

  /// Finds a selector that is interned already; for names that come from outside.
  public init?(existing name: String) {
    guard let known = SelectorTable.find(name) else { return nil }
    self = known
  }

  /// The name.
  public var name: String { SelectorTable.name(of: self) }

  /// The address of the name's bytes: what C sees as the selector.
  public var pointerBits: UInt { word }

  /// How many arguments the selector takes: its colons.
  public var numberOfArguments: Int { name.utf8.count { $0 == UInt8(ascii: ":") } }

  /// A small number that is this selector's alone, counted from 0.
  package var id: Int { SelectorTable.id(of: self) }
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
  private static let headerSize = 8

  static func intern(_ name: String) throws(InvocationError) -> Selector {
    if let known = find(name) { return known }
    guard name.utf8.count <= Selector.maximumLength, !name.utf8.contains(0) else {
      throw .invalidSelector(String(name.prefix(64)))
    }
    return state.withLockInPlace { state in
      if let known = state.byName[name] { return known }
      let made = entry(name, id: state.byName.count)
      state.byName[name] = made
      state.words.insert(made.word)
      return made
    }
  }

  static func find(_ name: String) -> Selector? { state.read { $0.byName[name] } }

  /// An 8-byte id, then the name and its NUL; the selector points at the name.
  private static func entry(_ name: String, id: Int) -> Selector {
    let bytes = Array(name.utf8) + [0]
    let block = UnsafeMutableRawPointer.allocate(
      byteCount: headerSize + bytes.count, alignment: 16)
    unsafe block.storeBytes(of: id, as: Int.self)
    unsafe (block + headerSize).copyMemory(from: bytes, byteCount: bytes.count)
    return unsafe Selector(word: UInt(bitPattern: block + headerSize))
  }

  // SAFETY (both): a selector's word is only ever made by `entry`, which nobody frees.
  static func name(of selector: Selector) -> String {
    unsafe UnsafePointer<CChar>(bitPattern: selector.word).map { unsafe String(cString: $0) } ?? ""
  }

  static func id(of selector: Selector) -> Int {
    let header = unsafe UnsafeRawPointer(bitPattern: selector.word - UInt(headerSize))
    return unsafe header.map { unsafe $0.load(as: Int.self) } ?? -1
  }

  /// The selector that a frame holds. Raw bytes can put anything there, and only a word that
  /// was handed out may be looked behind.
  static func selector(ofWord word: UInt64) -> Selector? {
    let word = UInt(word)
    return state.read { $0.words.contains(word) } ? Selector(word: word) : nil
  }
}
