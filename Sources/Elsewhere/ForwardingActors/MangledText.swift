// SPDX-License-Identifier: Apache-2.0
/// The bytes of a mangled name, and the position up to which they are parsed.
struct MangledText {
  /// The most repetitions of an element; there are no more arguments than that.
  static let limit = 64

  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { offset == bytes.count }
  var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }
  var remaining: String { String(decoding: bytes[offset...].prefix(8), as: UTF8.self) }

  mutating func advance() { offset += 1 }

  mutating func skip(_ text: String) -> Bool {
    guard bytes[offset...].starts(with: text.utf8) else { return false }
    offset += text.utf8.count
    return true
  }

  /// Skips an identifier: its length and its bytes. Or a zero, followed by letters that refer to
  /// earlier words, and by pieces of text between them. Or two zeros, followed by encoded bytes.
  mutating func skipIdentifier() -> Bool {
    guard let first = next, Self.isDigit(first) else { return false }
    var hasWords = false
    var isEncoded = false
    if first == UInt8(ascii: "0") {
      offset += 1
      if next == first {
        offset += 1
        isEncoded = true
      } else {
        hasWords = true
      }
    }
    repeat {
      while hasWords, let letter = next, Self.isLetter(letter) {
        offset += 1
        if Self.isUpper(letter) { hasWords = false }
      }
      if skip("0") { return true }
      guard let count = natural(), count > 0 else { return false }
      // Encoded bytes that begin with a digit or `_` have a `_` in front.
      if isEncoded { _ = skip("_") }
      guard count <= bytes.count - offset else { return false }
      offset += count
    } while hasWords
    return true
  }

  /// Skips a reference to one earlier element. Returns false if it refers to several.
  mutating func skipOneBefore() -> Bool {
    skip("A") && countBefore() == 1
  }

  /// Parses the references after an `A`: letters for earlier elements, each with an optional number
  /// of repetitions in front. The last letter is upper case; or there is a single number and `_`.
  /// Returns the number of elements.
  mutating func countBefore() -> Int? {
    var count = 0
    while let letter = next {
      var times = 1
      if letter == UInt8(ascii: "_") {
        offset += 1
        return count + 1
      }
      if Self.isDigit(letter) {
        guard let number = natural() else { return nil }
        if skip("_") { return count + 1 }
        guard (1...Self.limit).contains(number) else { return nil }
        times = number
      }
      guard let letter = next, Self.isLetter(letter) else { return nil }
      offset += 1
      count += times
      if Self.isUpper(letter) { return count }
    }
    return nil
  }

  mutating func natural() -> Int? {
    var number = 0
    let start = offset
    while let digit = next, Self.isDigit(digit) {
      guard number < 1 << 16 else { return nil }
      number = number * 10 + Int(digit - UInt8(ascii: "0"))
      offset += 1
    }
    return offset > start ? number : nil
  }

  static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  static func isUpper(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }

  static func isLetter(_ byte: UInt8) -> Bool {
    isUpper(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
  }
}
