// SPDX-License-Identifier: Apache-2.0
import Forwarding
import InvocationText
import TypeEncodings

/// A typed value is refused, or becomes bytes that print as the same value.
enum ValueFuzz {
  static func run(_ bytes: [UInt8]) throws {
    var input = FuzzInput(bytes)
    let encoding = String(decoding: input.line(), as: UTF8.self)
    let text = String(decoding: input.line(), as: UTF8.self)
    try json(text)
    guard let type = try? TypeEncoding(parsing: encoding), let layout = try? type.layout,
      layout.size <= 65_536
    else { return }
    try value(text, type, layout.size)
    try show(input.bytes(layout.size), type)
  }

  private static func json(_ text: String) throws {
    guard let value = try? JSONReader.value(of: text) else { return }
    // Numbers keep the text that was typed, so only brackets and strings must print as text that
    // parses again.
    let printed = "\(value)"
    guard let again = try? JSONReader.value(of: printed) else {
      throw FuzzFinding(description: "\(printed) was written and cannot be read")
    }
    try demand("\(again)" == printed, "\(printed) reads back as \(again)")
  }

  private static func value(_ text: String, _ type: TypeEncoding, _ size: Int) throws {
    let coder = ValueCoder()
    guard let bytes = try? coder.bytes(of: text, type) else { return }
    let isPointer: Bool
    if case .array = type.kind { isPointer = true } else { isPointer = false }
    try demand(bytes.count == (isPointer ? 8 : size), "\(text) has a wrong size for \(type)")
    do {
      _ = try coder.contents(atPointer: bytes)
    } catch {
      // There may be too many elements to print.
      guard case .tooManyElements = error.reason else { throw error }
    }
    if isPointer { return }
    // Refused if there are too many elements to print.
    guard let shown = try? ValueCoder.value(of: bytes[...], type), type.isPlainlyTyped else {
      return
    }
    let other = ValueCoder()
    let again: [UInt8]
    do {
      again = try other.bytes(of: "\(shown)", type)
    } catch {
      // An infinity is printed as a string, which is no number.
      try demand(
        "\(shown)".contains("\""), "\(shown) was written for \(type) and is refused: \(error)")
      return
    }
    try demand("\(try ValueCoder.value(of: again[...], type))" == "\(shown)", "\(shown) changes")
  }

  /// Checks that any bytes can be printed, as long as no address is followed.
  private static func show(_ bytes: [UInt8], _ type: TypeEncoding) throws {
    guard let leaves = try? type.leaves(), !leaves.contains(where: { $0.name == "cstr" }) else {
      return
    }
    if let shown = try? ValueCoder.value(of: bytes[...], type) { _ = "\(shown)" }
  }
}

extension ValueCoder {
  /// The bytes of an argument on a command line.
  fileprivate func bytes(of text: String, _ type: TypeEncoding) throws -> [UInt8] {
    try bytes(ofArgument: Self.value(ofArgument: text, type), type)
  }
}

extension TypeEncoding {
  /// Whether a value is typed in the form in which it is printed: no address, and no union, which
  /// prints all members and takes one.
  fileprivate var isPlainlyTyped: Bool {
    switch kind {
    case .scalar, .complex: true
    case .array(_, let element): element.isPlainlyTyped
    case .structure(_, let members?):
      members.allSatisfy {
        if case .bitField(_, let storage, _) = $0.type.kind { return storage != nil }
        return $0.type.isPlainlyTyped
      }
    default: false
    }
  }
}
