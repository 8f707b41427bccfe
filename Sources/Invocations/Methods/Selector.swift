import CForwardingShims
import TypeEncodings

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
  public var numberOfArguments: Int { SelectorTable.numberOfArguments(self) }
}

extension Selector: ExpressibleByStringLiteral {
  /// Interns a name of the program's text. A NUL, which no name can hold, becomes `␀`.
  public init(stringLiteral name: String) {
    if let known = SelectorTable.find(name) { self = known } else { self.init(newLiteral: name) }
  }

  @inline(never)
  private init(newLiteral name: String) {
    let isPlain = !name.utf8.contains(0)
    self = SelectorTable.intern(isPlain ? name : String(name.map { $0 == "\0" ? "␀" : $0 }))
  }
}

extension Selector: CustomStringConvertible {
  public var description: String { name }
}

/// All interned selectors (`fwd_names.h`). Entries are never freed: their addresses are in frames and C code.
enum SelectorTable {
  /// Interns a name without a NUL.
  static func intern(_ name: String) -> Selector {
    unsafe name.withBytes { bytes in
      // SAFETY: as many bytes as are there; they are copied.
      let known =
        unsafe fwd_selector_find(bytes.baseAddress.unsafelyUnwrapped, bytes.count)
        ?? fwd_selector_intern(bytes.baseAddress.unsafelyUnwrapped, bytes.count)
      return unsafe Selector(known)
    }
  }

  static func find(_ name: String) -> Selector? {
    // A name with a NUL is longer than any that is there.
    unsafe name.withBytes { bytes in
      unsafe fwd_selector_find(bytes.baseAddress.unsafelyUnwrapped, bytes.count)
        .map { unsafe Selector($0) }
    }
  }

  // SAFETY: a selector's word is only ever that of a name, which nobody frees.
  static func name(of selector: Selector) -> String {
    guard selector.word != 0 else { return "" }
    let name = unsafe fwd_selector_name(selector.word)
    let bytes = unsafe UnsafeRawBufferPointer(
      start: fwd_name_bytes(name), count: Int(name.pointee.length))
    return unsafe String(decoding: bytes, as: UTF8.self)
  }

  static func numberOfArguments(_ selector: Selector) -> Int {
    selector.word == 0 ? 0 : unsafe Int(fwd_selector_name(selector.word).pointee.colons)
  }

  /// The selector that a frame holds. Raw bytes can put anything there, so only a word that was
  /// handed out is followed.
  static func selector(ofWord word: UInt64) -> Selector? {
    fwd_selector_is_known(UInt(word)) != 0 ? Selector(word: UInt(word)) : nil
  }
}

extension Selector {
  @unsafe
  init(_ name: UnsafePointer<FWDName>) {
    unsafe self.init(word: UInt(bitPattern: fwd_name_bytes(name)))
  }
}

extension String {
  /// Lends the bytes of a name, where they lie if they can be lent; the address is never nil.
  @inline(__always)
  func withBytes<Result>(_ body: (UnsafeBufferPointer<CChar>) -> Result) -> Result {
    // Not by `withUTF8` at once, which counts the string, nor by a span, which is not inlined.
    let lent = unsafe utf8.withContiguousStorageIfAvailable {
      unsafe Self.withCharacters($0, body)
    }
    if let lent { return lent }
    var copy = self
    return copy.withUTF8 { unsafe Self.withCharacters($0, body) }
  }

  @inline(__always)
  private static func withCharacters<Result>(
    _ bytes: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<CChar>) -> Result
  ) -> Result {
    guard let base = bytes.baseAddress, bytes.count > 0 else {
      return unsafe withUnsafePointer(to: CChar(0)) {
        unsafe body(UnsafeBufferPointer(start: $0, count: 0))
      }
    }
    return unsafe base.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
      unsafe body(UnsafeBufferPointer(start: $0, count: bytes.count))
    }
  }
}

extension MethodSignature {
  /// Refuses a selector that takes another number of arguments.
  func checkArity(of selector: Selector) throws(InvocationError) {
    do throws(TypeEncodingError) {
      try checkArity(ofColons: selector.numberOfArguments)
    } catch {
      throw .encoding(error)
    }
  }
}
