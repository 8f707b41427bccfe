// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import TypeEncodings

/// The name of a message, interned: selectors with equal names have one address.
///
/// A string literal is a selector. Names from outside the program should be looked up, not
/// interned:
///
/// ```swift
/// let saved: Selector = "didSave:"
/// saved.numberOfArguments               // 1
/// Selector(existing: "never heard of")  // nil
/// ```
///
/// C functions receive the address of the name's bytes, which end with a NUL and live as long as
/// the process, so `printf("%s", _cmd)` works.
public struct Selector: Hashable, Sendable {
  /// The maximum length of a name for ``init(interning:)``, in bytes.
  package static let maximumLength = 1024

  // The address of the interned name. Names are never freed, so it stays valid.
  @usableFromInline let word: UInt

  @usableFromInline init(word: UInt) { self.word = word }

  /// Interns `name` for the life of the process. Only for names from the program itself.
  ///
  /// - Throws: ``InvocationError/invalidSelector(_:)`` if the name contains a NUL or is too long.
  public init(interning name: String) throws(InvocationError) {
    guard name.utf8.count <= Self.maximumLength, !name.utf8.contains(0) else {
      throw .invalidSelector(String(name.prefix(64)))
    }
    self.init(interned: name)
  }

  /// Finds a selector that is already interned. For names from outside the program.
  public init?(existing name: String) {
    // Interned names contain no NUL, so a name with one is not found.
    let known = unsafe name.withBytes { bytes in
      unsafe fwd_selector_find(bytes.baseAddress.unsafelyUnwrapped, bytes.count)
    }
    guard let known = unsafe known else { return nil }
    unsafe self.init(known)
  }

  /// Interns a name without a NUL.
  private init(interned name: String) {
    let known = unsafe name.withBytes { bytes in
      // SAFETY: the length is that of the buffer, and the bytes are copied.
      unsafe fwd_selector_find(bytes.baseAddress.unsafelyUnwrapped, bytes.count)
        ?? fwd_selector_intern(bytes.baseAddress.unsafelyUnwrapped, bytes.count)
    }
    unsafe self.init(known)
  }

  /// The selector that a frame holds. The word may be any bytes, so it is only followed if it is
  /// the address of an interned name.
  init?(ofWord word: UInt64) {
    guard fwd_selector_is_known(UInt(word)) != 0 else { return nil }
    self.init(word: UInt(word))
  }

  // SAFETY: a selector's word is always the address of a name, and names are never freed.
  @unsafe
  private init(_ name: UnsafePointer<FWDName>) {
    unsafe self.init(word: UInt(bitPattern: fwd_name_bytes(name)))
  }

  /// The name.
  public var name: String {
    guard word != 0 else { return "" }
    let name = unsafe fwd_selector_name(word)
    let bytes = unsafe UnsafeRawBufferPointer(
      start: fwd_name_bytes(name), count: Int(name.pointee.length))
    return unsafe String(decoding: bytes, as: UTF8.self)
  }

  /// The address of the name's bytes, which C code gets as the selector.
  public var address: UInt { word }

  /// The number of arguments that the selector takes: its number of colons.
  public var numberOfArguments: Int {
    word == 0 ? 0 : unsafe Int(fwd_selector_name(word).pointee.colons)
  }
}

extension Selector: ExpressibleByStringLiteral {
  /// Interns a name of the program's text. A NUL, which no name can contain, becomes `␀`.
  public init(stringLiteral name: String) {
    self = Selector(existing: name) ?? Selector(newLiteral: name)
  }

  @inline(never)
  private init(newLiteral name: String) {
    let isPlain = !name.utf8.contains(0)
    self.init(interned: isPlain ? name : String(name.map { $0 == "\0" ? "␀" : $0 }))
  }
}

extension Selector: CustomStringConvertible {
  public var description: String { name }
}

extension String {
  /// Lends the bytes of a string, without a copy if they are contiguous. The address is never nil.
  @inline(__always)
  func withBytes<Result>(_ body: (UnsafeBufferPointer<CChar>) -> Result) -> Result {
    // `withUTF8` would retain the string first, and a span is not inlined.
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
  /// Throws if a selector takes another number of arguments.
  package func checkArity(of selector: Selector) throws(InvocationError) {
    do throws(TypeEncodingError) {
      try checkArity(ofColons: selector.numberOfArguments, in: selector.name)
    } catch {
      throw .encoding(error)
    }
  }
}
