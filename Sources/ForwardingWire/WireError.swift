// SPDX-License-Identifier: Apache-2.0
public import Invocations

/// An error in bytes that an ``Interface`` decodes, or in a call that it encodes, with its
/// position.
///
/// ```swift
/// var bank = Interface("bank")
/// try bank.allow(Message<Int32, Int32>("deposit:"))
/// try bank.decode([2, 0, 0, 0])  // throws: byte 4: 4 bytes are expected, but 0 are given
/// ```
public struct WireError: Error, Hashable, Sendable {
  /// The kind of the error.
  public let reason: Reason
  /// The offset of the byte that is wrong or, in a call that is encoded, where it would be.
  public let offset: Int

  @usableFromInline
  package init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  /// The part of the description that other processes may read: the position and the kind of the
  /// error, without the texts of errors that types of values throw, and without values of this
  /// process.
  package var outwards: String {
    switch reason {
    case .value(let type, _): "\(WireError(.value(type: type, ""), at: offset))"
    case .refused: "byte \(offset): the call refuses the value"
    case .tooShort, .tooLong, .limit, .unknownSelector, .encoding, .notText, .embeddedNUL, .notBool,
      .nestedTooDeeply, .noSelector, .noResult:
      description
    }
  }

  /// The kind of an error.
  @nonexhaustive
  public enum Reason: Hashable, Sendable {
    /// The bytes end too early.
    case tooShort(expected: Int, given: Int)
    /// There are bytes after the end of the message.
    case tooLong(expected: Int, given: Int)
    /// A limit on the number of bytes is exceeded.
    case limit(Int, given: Int)
    /// The interface has no such message. Of received bytes, only its fingerprint is known.
    case unknownSelector(String)
    /// The interface has the message with other types.
    case encoding(selector: String, expected: String, given: String)
    /// Text is not valid UTF-8.
    case notText
    /// Text contains a NUL, which would end a C string.
    case embeddedNUL
    /// A byte is not a `Bool`.
    case notBool(UInt8)
    /// Lists in a value nest too deeply.
    case nestedTooDeeply(limit: Int)
    /// A value of a Swift type cannot be decoded or encoded, with the text of its error.
    case value(type: String, String)
    /// The call has no selector.
    case noSelector
    /// The call has no result to encode.
    case noResult
    /// The invocation refuses the value.
    case refused(InvocationError)
  }
}

extension WireError: CustomStringConvertible {
  public var description: String { "byte \(offset): \(reason)" }
}

extension WireError.Reason: CustomStringConvertible {
  public var description: String { words.visible }

  private var words: String {
    switch self {
    case .tooShort(let expected, let given), .tooLong(let expected, let given):
      "\(expected) bytes are expected, but \(given) are given"
    case .limit(let limit, let given): "the limit is \(limit) bytes, but \(given) are given"
    case .unknownSelector(let name): "the interface has no message '\(Self.short(name))'"
    case .encoding(let selector, let expected, let given):
      "'\(Self.short(selector))' has the types \(expected), but \(Self.short(given)) is given"
    case .notText: "the text is not UTF-8"
    case .embeddedNUL: "the text holds a NUL, which would cut it"
    case .notBool(let byte): "a Bool is 0 or 1, but \(byte) is given"
    case .nestedTooDeeply(let limit): "lists nest more than \(limit) deep"
    case .value(let type, let why):
      "not a valid value of \(Self.short(type))" + (why.isEmpty ? "" : ": \(Self.short(why))")
    case .noSelector: "the call has no selector"
    case .noResult: "the call has no result"
    case .refused(let error): "\(error)"
    }
  }

  /// A received text, cut to the length of a line.
  private static func short(_ text: String) -> String {
    text.count > 200 ? text.prefix(199) + "…" : text
  }
}
