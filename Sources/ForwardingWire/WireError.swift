/// Bytes that are not what an ``Interface`` takes, or a call that it does not write: what is wrong, and where.
///
/// ```swift
/// var bank = Interface("bank")
/// try bank.allow(Message<Int32, Int32>("deposit:"))
/// try bank.decode([2, 0, 0, 0])  // throws: byte 0: version 1 is expected, but 2 is given
/// ```
public struct WireError: Error, Hashable, Sendable {
  /// What is wrong.
  public let reason: Reason
  /// The byte to blame; of a call that is written, where it would stand.
  public let offset: Int

  @usableFromInline
  package init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  /// What another process may read of it: which byte, and what is wrong in words of this module, never in those of the
  /// errors that types of values throw, nor with values of this process.
  package var outwards: String {
    switch reason {
    case .value(let type, _): "\(WireError(.value(type: type, ""), at: offset))"
    case .refused: "byte \(offset): the call refuses the value"
    case .tooShort, .tooLong, .limit, .version, .interface, .unknownSelector, .encoding, .notText,
      .embeddedNUL, .notBool, .nestedTooDeeply, .noSelector, .noResult:
      description
    }
  }

  /// What is wrong with bytes, or with a call.
  @nonexhaustive
  public enum Reason: Hashable, Sendable {
    /// The bytes end too early: so many are expected, and so many are there.
    case tooShort(expected: Int, given: Int)
    /// The bytes go on behind the end of what they are.
    case tooLong(expected: Int, given: Int)
    /// More bytes than a limit allows.
    case limit(Int, given: Int)
    /// Another version of the format.
    case version(expected: Int, given: Int)
    /// The bytes are for another interface.
    case interface(expected: String, given: String)
    /// The interface has no such message.
    case unknownSelector(String)
    /// The interface has the message with other types.
    case encoding(selector: String, expected: String, given: String)
    /// Bytes that are no UTF-8 where text is expected.
    case notText
    /// A NUL, which would cut a C string.
    case embeddedNUL
    /// A byte that is no `Bool`.
    case notBool(UInt8)
    /// Lists nest too deeply in a value.
    case nestedTooDeeply(limit: Int)
    /// A value of a Swift type could not be read or written, in the words of its type.
    case value(type: String, String)
    /// The call has no selector.
    case noSelector
    /// There is no result to write.
    case noResult
    /// The invocation refuses the value.
    case refused(InvocationError)
  }
}

extension WireError: CustomStringConvertible {
  public var description: String { "byte \(offset): \(reason)" }
}

extension WireError.Reason: CustomStringConvertible {
  public var description: String { WireValue.visible(words) }

  private var words: String {
    switch self {
    case .tooShort(let expected, let given), .tooLong(let expected, let given):
      "\(expected) bytes are expected, but \(given) are given"
    case .limit(let limit, let given): "\(limit) bytes are the limit, but \(given) are given"
    case .version(let expected, let given): "version \(expected) is expected, but \(given) is given"
    case .interface(let expected, let given):
      "interface '\(expected)' is expected, but '\(Self.short(given))' is given"
    case .unknownSelector(let name): "the interface has no message '\(Self.short(name))'"
    case .encoding(let selector, let expected, let given):
      "'\(Self.short(selector))' is \(expected), but \(Self.short(given)) is given"
    case .notText: "the text is not UTF-8"
    case .embeddedNUL: "the text holds a NUL, which would cut it"
    case .notBool(let byte): "a Bool is 0 or 1, but \(byte) is given"
    case .nestedTooDeeply(let limit): "lists nest more than \(limit) deep"
    case .value(let type, let why):
      "no value of \(Self.short(type))" + (why.isEmpty ? "" : ": \(Self.short(why))")
    case .noSelector: "the call has no selector"
    case .noResult: "the call has no result"
    case .refused(let error): "\(error)"
    }
  }

  /// A text from outside, as far as a line has room for it.
  private static func short(_ text: String) -> String {
    text.count > 200 ? text.prefix(199) + "…" : text
  }
}
