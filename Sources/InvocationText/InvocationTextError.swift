// SPDX-License-Identifier: Apache-2.0
public import Invocations
public import TypeEncodings

/// An error in the JSON for a call, and its location.
///
/// Printing one shows the text with a caret:
///
/// ```swift
/// let call = try Invocation(parsing: "vi*")
/// do {
///   try call.setArguments(json: "[seven, \"seven\"]")
/// } catch {
///   print(error.offset, error.argument ?? -1)  // 1 0
///   print(error.reason)  // seven does not fit Int32 (i): an integer from -2147483648 to 2147483647 is expected
/// }
/// ```
public struct InvocationTextError: Error, Hashable, Sendable {
  /// The reason.
  public let reason: Reason
  /// The index of the argument in the invocation; nil for the result, and for the list itself.
  public let argument: Int?
  /// The offset of the wrong value, in UTF-8 code units.
  public let offset: Int
  /// The whole text; empty if a value could not be written.
  public let text: String

  init(_ fault: TextFault, argument: Int?, text: String) {
    reason = fault.reason
    self.argument = argument
    offset = fault.offset
    self.text = text
  }

  /// The reason for an error.
  @nonexhaustive
  public enum Reason: Hashable, Sendable {
    // Errors in the syntax.
    /// A value is expected.
    case valueExpected
    /// `,` or `]` is expected after an element.
    case separatorExpected
    /// Text has no closing quote.
    case unterminatedText
    /// A `\` does not begin an escape.
    case unknownEscape
    /// Half of a surrogate pair is missing.
    case unpairedSurrogate
    /// More text follows the value.
    case trailingText
    /// Arrays are nested too deeply.
    case nestedTooDeeply(limit: Int)
    /// The arguments are not an array.
    case noList
    /// The number of arguments is wrong.
    case argumentCount(expected: Int, given: Int)
    // Errors in a value.
    /// The text is no value of the type.
    case noValue(given: String, type: TypeEncoding)
    /// The text does not fit a bit-field.
    case noBits(given: String, type: TypeEncoding, width: Int)
    /// The memory behind a pointer must be an array of values.
    case noElements(given: String, type: TypeEncoding)
    /// The argument is a structure, which must be an array.
    case noStructure(given: String, type: TypeEncoding)
    /// The text contains a NUL, which would end it early.
    case embeddedNUL(TypeEncoding)
    /// No selector with this name exists.
    case unknownSelector(String)
    /// An address, or memory behind a pointer. These need the functions marked `unsafe`.
    case address(given: String, type: TypeEncoding)
    /// The result refers to memory, which would have no owner.
    case resultInMemory(TypeEncoding)
    // Missing information.
    /// The layout of the structure is unknown.
    case membersUnknown(given: String, type: TypeEncoding)
    /// The array is too long to be written.
    case tooManyElements(TypeEncoding)
    /// The invocation refuses the value.
    case refused(InvocationError)
  }
}

/// An error at one place of a text.
package struct TextFault: Error, CustomStringConvertible {
  package let reason: InvocationTextError.Reason
  package let offset: Int

  init(_ reason: InvocationTextError.Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  package var description: String { "\(reason)" }

  /// Runs `body`, and adds a place to an error of an encoding.
  static func wrapping<Value>(
    at offset: Int, _ body: () throws(TypeEncodingError) -> Value
  ) throws(TextFault) -> Value {
    do { return try body() } catch { throw TextFault(.refused(.encoding(error)), at: offset) }
  }
}

extension InvocationTextError: CustomStringConvertible {
  /// The reason, then the text and a caret under the value on lines of their own, which stay aligned
  /// after any prefix. Long texts are abbreviated.
  public var description: String {
    let reason = (argument.map { "argument \($0): " } ?? "") + "\(reason)"
    if text.isEmpty { return reason }
    let (line, column) = CaretLine.excerpt(of: text, at: offset)
    return "\(reason)\n\(line)\n\(String(repeating: " ", count: column))^"
  }
}

extension InvocationTextError.Reason: CustomStringConvertible {
  public var description: String {
    switch self {
    case .valueExpected: "a JSON value is missing"
    case .separatorExpected: "',' or ']' is expected here"
    case .unterminatedText: "the text is not closed with '\"'"
    case .unknownEscape: "JSON has no such escape; write a backslash as \\\\"
    case .unpairedSurrogate:
      "this is one half of a surrogate pair; write both, as in \\ud83d\\ude00, or the character itself"
    case .trailingText: "one value is expected, but more text follows it"
    case .nestedTooDeeply(let limit): "lists nest more than \(limit) deep"
    case .noList:
      "a JSON array of the arguments is expected, such as [1, \"two\"]; write [] if there are none"
    case .argumentCount(let expected, let given):
      "\(InvocationError.argumentCount(expected: expected, given: given))"
    case .noValue(let given, let type):
      Self.no(
        given, type,
        type.isTooLarge(given) ? "it is too large; infinity is \"inf\"" : type.valueHint)
    case .noBits(let given, let type, let width):
      Self.no(
        given, type,
        width > 0 ? "an integer of \(width) bits is expected" : "it has no bits, so only 0 fits")
    case .noElements(let given, let type):
      Self.no(given, type, "write its elements as a JSON array")
    case .noStructure(let given, let type):
      Self.no(given, type, "write a JSON array, such as [1,[2,3]]")
    case .embeddedNUL(let type): "text for \(type.title) cannot contain a NUL, where C would end it"
    case .unknownSelector(let name):
      "no selector is called '\(name)'; 'Selector(interning:)' makes one"
    case .address(let given, let type):
      Self.no(given, type, "write null, or use 'unsafeJSON:' for addresses and what they point to")
    case .resultInMemory(let type):
      "nothing would keep the memory of a result of type \(type.title); write null"
    case .membersUnknown(let given, let type):
      Self.no(given, type, "the offsets of its members are not known; register its layout")
    case .tooManyElements(let type):
      "\(type.title) cannot be written as JSON: it has more than 4096 empty elements"
    case .refused(let error): "\(error)"
    }
  }

  private static func no(_ given: String, _ type: TypeEncoding, _ hint: String) -> String {
    let shown = given.count > 60 ? given.prefix(59) + "…" : given[...]
    return "\(shown) does not fit \(type.title): \(hint)"
  }
}
