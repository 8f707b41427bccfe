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
  public private(set) var argument: Int?
  /// The offset of the wrong value, in UTF-8 code units.
  public let offset: Int
  /// The whole text; empty if a value could not be written.
  public private(set) var text = ""

  init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  static func refused(_ error: InvocationError, at offset: Int) -> Self {
    Self(.refused(error), at: offset)
  }

  /// The error of an argument, or of the result, in a whole text.
  func placed(in text: String, argument: Int? = nil) -> Self {
    var error = self
    (error.text, error.argument) = (text, argument)
    return error
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
    /// The text contains a NUL, which would end it early.
    case embeddedNUL(TypeEncoding)
    /// No selector with this name exists.
    case unknownSelector(String)
    /// An address, or memory behind a pointer. These need the functions marked `unsafe`.
    case address(given: String, type: TypeEncoding)
    /// The result refers to memory, which would have no owner.
    case resultInMemory(TypeEncoding)
    /// The array is too long to be written.
    case tooManyElements(TypeEncoding)
    /// The invocation refuses the value.
    case refused(InvocationError)
  }
}

extension InvocationTextError: CustomStringConvertible {
  /// The reason, then the text and a caret under the value on lines of their own, which stay aligned
  /// after any prefix. Long texts are abbreviated.
  public var description: String {
    let reason = (argument.map { "argument \($0): " } ?? "") + "\(reason)"
    return text.isEmpty ? reason : "\(reason)\n\(CaretLine.excerpt(of: text, at: offset))"
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
    case .noValue(let given, let type): Self.no(given, type, type.hint(for: given))
    case .embeddedNUL(let type): "text for \(type.title) cannot contain a NUL, where C would end it"
    case .unknownSelector(let name):
      "no selector is called '\(name)'; 'Selector(interning:)' makes one"
    case .address(let given, let type):
      Self.no(given, type, "write null, or use 'unsafeJSON:' for addresses and what they point to")
    case .resultInMemory(let type):
      "nothing would keep the memory of a result of type \(type.title); write null"
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

extension TypeEncoding {
  /// How to write a value of the type instead of a text that is none.
  fileprivate func hint(for given: String) -> String {
    func values(_ count: Int) -> String {
      "write a JSON array of \(count) value\(count == 1 ? "" : "s")"
    }
    return switch kind {
    case .scalar(.bool): "true or false is expected"
    case .scalar(let scalar) where scalar.isFloatingPoint:
      !Floats.isName(given) && Float(given)?.isInfinite ?? false
        ? "it is too large; infinity is \"inf\"" : "a number is expected"
    case .scalar(let scalar): "an integer from \(Integers.range(scalar)) is expected"
    case .bitField(0, _, _): "it has no bits, so only 0 fits"
    case .bitField(let width, _, _): "an integer of \(width) bits is expected"
    case .complex: "write an array of its real and imaginary part, such as [1, 0.5]"
    case .structure(_, let members?), .union(_, let members?):
      if members.contains(where: { $0.bitOffset == nil }) {
        "the offsets of its members are not known; register its layout"
      } else if case .union = kind {
        "write a JSON array with a value for its first member"
      } else {
        values(members.count)
      }
    case .structure, .union: "its members are not known; write them into the encoding"
    case .array(let count, _): values(count)
    case .void: "only null is expected"
    case .cString: "write text in quotes"
    case .selector: "write the name of a selector in quotes"
    case .pointer: "write 0, an address such as 0x7f00, or a JSON array of what it points to"
    default: "write 0 or an address such as 0x7f00"
    }
  }
}
