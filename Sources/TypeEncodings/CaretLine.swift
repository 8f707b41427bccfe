// SPDX-License-Identifier: Apache-2.0
/// An excerpt of a text with a caret below it.
package enum CaretLine {
  /// Returns at most 72 bytes around `offset`, and the caret under it on a line of its own.
  package static func excerpt(of text: String, at offset: Int) -> String {
    let bytes = text.utf8
    let before = bytes.prefix(max(0, offset)).suffix(48)
    let after = bytes.dropFirst(max(0, offset)).prefix(24)
    let lead = before.count < offset ? "…" : ""
    let tail = offset + after.count < bytes.count ? "…" : ""
    let head = lead + printable(before)
    return "\(head)\(printable(after))\(tail)\n\(String(repeating: " ", count: head.count))^"
  }

  private static func printable(_ bytes: some Sequence<UInt8>) -> String {
    // Control characters would move the caret. A truncated UTF-8 sequence becomes U+FFFD.
    let text = String(decoding: Array(bytes), as: UTF8.self)
    return String(
      text.unicodeScalars.map { scalar in
        scalar.properties.generalCategory == .control ? "·" : Character(scalar)
      })
  }
}
