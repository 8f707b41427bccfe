public import Invocations
public import TypeEncodings

/// JSON that is not what a call takes, and where that shows.
///
/// Printing one shows the text with a caret:
///
/// ```swift
/// let call = try Invocation(parsing: "vi*")
/// do {
///   try call.setArguments(json: "[seven, \"seven\"]")
/// } catch {
///   print(error.offset, error.argument ?? -1)  // 1 0
///   print(error.reason)  // seven is no value for i: an integer from -2147483648 to 2147483647 is expected
/// }
/// ```
public struct InvocationTextError: Error, Hashable, Sendable {
  /// What was wrong.
  public let reason: Reason
  /// The argument concerned, as invocations count them; nil for the result, and for the list itself.
  public let argument: Int?
  /// Where the value begins that was wrong, counted in UTF-8.
  public let offset: Int
  /// The whole text; empty if a value could not be written.
  public let text: String

  init(_ fault: TextFault, argument: Int?, text: String) {
    reason = fault.reason
    self.argument = argument
    offset = fault.offset
    self.text = text
  }

  /// Why a text was refused.
  @nonexhaustive
  public enum Reason: Hashable, Sendable {
    // What the text is.
    /// A value is expected.
    case valueExpected
    /// A list goes on with `,` or ends with `]`.
    case separatorExpected
    /// Text without its closing quote.
    case unterminatedText
    /// A `\` before something that is no escape, or half a character.
    case unknownEscape
    /// One value was read, and more follows it.
    case trailingText
    /// Lists are inside of each other too often.
    case nestedTooDeeply(limit: Int)
    /// The arguments are no list.
    case noList
    /// The call takes another number of arguments.
    case argumentCount(expected: Int, given: Int)
    // What a value is.
    /// The text is no value of a type.
    case noValue(given: String, type: TypeEncoding)
    /// The text does not fit a bit-field.
    case noBits(given: String, type: TypeEncoding, width: Int)
    /// What a pointer points at is a list of values.
    case noElements(given: String, type: TypeEncoding)
    /// The argument is a structure, which is written as a list.
    case noStructure(given: String, type: TypeEncoding)
    /// The text holds a NUL, which would cut it.
    case embeddedNUL(TypeEncoding)
    /// No selector has this name.
    case unknownSelector(String)
    /// An address, or memory that is pointed at, which takes the word `unsafe`.
    case address(given: String, type: TypeEncoding)
    /// A result that refers to memory, which nobody would keep.
    case resultInMemory(TypeEncoding)
    // What is not known.
    /// Nothing says where the members of the structure lie.
    case membersUnknown(given: String, type: TypeEncoding)
    /// The array is too long to be written.
    case tooManyElements(TypeEncoding)
    /// The invocation refuses the value.
    case refused(InvocationError)
  }
}

/// What is wrong at one place of a text.
package struct TextFault: Error, CustomStringConvertible {
  package let reason: InvocationTextError.Reason
  package let offset: Int

  init(_ reason: InvocationTextError.Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  package var description: String { "\(reason)" }

  /// Runs `body`, and gives what an encoding got wrong a place.
  static func wrapping<Value>(
    at offset: Int, _ body: () throws(TypeEncodingError) -> Value
  ) throws(TextFault) -> Value {
    do { return try body() } catch { throw TextFault(.refused(.encoding(error)), at: offset) }
  }
}

extension InvocationTextError: CustomStringConvertible {
  /// The text, a caret under the value, and the reason. Long texts are shown in part.
  public var description: String {
    let reason = (argument.map { "argument \($0): " } ?? "") + "\(reason)"
    if text.isEmpty { return reason }
    let (line, column) = CaretLine.excerpt(of: text, at: offset)
    return "\(line)\n\(String(repeating: " ", count: column))^ \(reason)"
  }
}

extension InvocationTextError.Reason: CustomStringConvertible {
  public var description: String {
    switch self {
    case .valueExpected: "a value is expected here"
    case .separatorExpected: "',' or ']' is expected here"
    case .unterminatedText: "the text is not closed with '\"'"
    case .unknownEscape: "this is no escape of JSON"
    case .trailingText: "one value is expected, but more text follows it"
    case .nestedTooDeeply(let limit): "lists nest more than \(limit) deep"
    case .noList: "write the arguments as a JSON array"
    case .argumentCount(let expected, let given):
      "\(InvocationError.argumentCount(expected: expected, given: given))"
    case .noValue(let given, let type): Self.no(given, type, type.valueHint)
    case .noBits(let given, let type, let width):
      Self.no(given, type, "an integer of \(width) bits is expected")
    case .noElements(let given, let type):
      Self.no(given, type, "write the elements as a JSON array")
    case .noStructure(let given, let type):
      Self.no(given, type, "write a JSON array, such as [1,[2,3]]")
    case .embeddedNUL(let type): "text for \(type) cannot hold a NUL"
    case .unknownSelector(let name): "no selector is called '\(name)'"
    case .address(let given, let type):
      Self.no(given, type, "null is expected; addresses and what they point at need 'unsafeJSON'")
    case .resultInMemory(let type):
      "nobody would keep the memory that a result of \(type) refers to"
    case .membersUnknown(let given, let type):
      Self.no(given, type, "its members' places are not known")
    case .tooManyElements(let type):
      Self.no("an array", type, "it has more than 4096 empty elements")
    case .refused(let error): "\(error)"
    }
  }

  private static func no(_ given: String, _ type: TypeEncoding, _ hint: String) -> String {
    let shown = given.count > 60 ? given.prefix(59) + "…" : given[...]
    return "\(shown) is no value for \(type): \(hint)"
  }
}
