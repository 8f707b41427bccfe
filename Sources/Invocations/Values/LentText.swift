// SPDX-License-Identifier: Apache-2.0
import CForwardingShims

/// Whether Swift strings can be lent to C as C strings, and be made of them.
///
/// `fwd_text.h` reads the memory of strings. Another standard library may lay them out differently,
/// so each kind of string is probed once. If C finds other bytes than `withCString` does, no string
/// is lent: each is copied to the heap, as a recorded call does.
struct LentText {
  /// Whether the probes were found as they are.
  let isPossible: Bool

  // SAFETY: the address is that of a string.
  static let ofLibrary = unsafe LentText { string, room in unsafe fwd_text_lend(string, room) }

  /// - Parameter lend: returns the C string of the `String` at an address, or NULL.
  init(
    lending lend: (UnsafeRawPointer, UnsafeMutablePointer<FWDTextRoom>) -> UnsafePointer<CChar>?
  ) {
    let whole = [
      "", "a", "sevens.", "eighteen", "fifteen letters", "é", "a literal of more letters",
      String(repeating: "é", count: 4), String(repeating: "made of more letters", count: 9),
    ]
    let cut = [
      "\0", "a\0b", "seven\0\0", "fifteen \0letter", "a NUL \0 in a longer literal",
    ]
    isPossible =
      whole.allSatisfy { unsafe Self.isFound($0, lend) && Self.isCopied($0) }
      && cut.allSatisfy { unsafe Self.isRefused($0, lend) }
  }

  @unsafe
  private static func isFound(
    _ text: String,
    _ lend: (UnsafeRawPointer, UnsafeMutablePointer<FWDTextRoom>) -> UnsafePointer<CChar>?
  ) -> Bool {
    var room = FWDTextRoom()
    return unsafe withUnsafePointer(to: text) { text in
      unsafe withUnsafeMutablePointer(to: &room) { room in
        guard let bytes = unsafe lend(text, room) else { return false }
        return unsafe String(validatingCString: bytes) == text.pointee
      }
    }
  }

  /// Whether a copy that `fwd_text_copy` makes has the memory of the text.
  private static func isCopied(_ text: String) -> Bool {
    var room = FWDTextRoom()
    guard unsafe text.withCString({ unsafe fwd_text_copy($0, &room) }) != 0 else { return true }
    return unsafe withUnsafeBytes(of: text) { text in
      unsafe withUnsafeBytes(of: room) { unsafe $0.elementsEqual(text) }
    }
  }

  @unsafe
  private static func isRefused(
    _ text: String,
    _ lend: (UnsafeRawPointer, UnsafeMutablePointer<FWDTextRoom>) -> UnsafePointer<CChar>?
  ) -> Bool {
    var room = FWDTextRoom()
    return unsafe withUnsafePointer(to: text) { text in
      unsafe withUnsafeMutablePointer(to: &room) { unsafe lend(text, $0) == nil }
    }
  }
}

extension String {
  /// Copies a C string; nil if the address is NULL, or if the bytes are not UTF-8.
  @usableFromInline @unsafe
  init?(copying bytes: UnsafePointer<CChar>?) {
    guard let bytes = unsafe bytes else { return nil }
    var room = FWDTextRoom()
    if LentText.ofLibrary.isPossible, unsafe fwd_text_copy(bytes, &room) != 0 {
      // SAFETY: the probes found that such words are those of a small string, which owns nothing.
      self = unsafe unsafeBitCast(room, to: String.self)
    } else {
      guard let text = unsafe String(validatingCString: bytes) else { return nil }
      self = text
    }
  }
}
