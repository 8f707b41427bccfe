// SPDX-License-Identifier: Apache-2.0
/// An encoding that cannot be used, with the offset of the first byte at fault.
///
/// ```swift
/// do {
///   _ = try MethodSignature(parsing: "v@:{_Point=dd")
/// } catch {
///   print(error.offset, error.reason)  // 13 the structure is not closed with '}'
/// }
/// ```
///
/// The description is the reason, then the string with a caret under the byte:
///
/// ```text
/// the structure is not closed with '}'
/// v@:{_Point=dd
///              ^
/// ```
public struct TypeEncodingError: Error, Hashable, Sendable {
  /// The fault at `offset`.
  public var reason: Reason
  /// The offset of the first byte that could not be parsed, counted in UTF-8.
  public var offset: Int
  /// The whole string.
  public var encoding: String

  /// Creates an error about one byte of `encoding`.
  package init(reason: Reason, offset: Int, encoding: String) {
    self.reason = reason
    self.offset = offset
    self.encoding = encoding
  }

  /// The reason why an encoding is refused.
  @nonexhaustive
  public enum Reason: Hashable, Sendable {
    // Faults of the string itself.
    /// The string is empty.
    case empty
    /// A type was expected, but the string ended.
    case unexpectedEnd
    /// No type begins with this byte.
    case unknownCode(UInt8)
    /// The text begins with names of types, and this one has this encoding.
    indirect case nameOfType(name: String, encoding: String)
    /// There is more text behind the type.
    case trailingCharacters
    /// The bytes are not UTF-8.
    case invalidUTF8
    /// A name contains a control character, or a structure has neither a name nor a body.
    case invalidName
    /// A bracket in a name has no partner, or is where C++ names have no bracket.
    case unbalancedName
    /// A structure, union, array, quoted name or block signature that is never closed.
    indirect case unterminated(what: String, closer: Character)
    /// A vector that is not `![size,alignment type]` or `<count type>`.
    case malformedVector
    /// An array or a bit-field has no number.
    case missingNumber
    /// A number above the limit for its place.
    case numberTooLarge(limit: Int)
    /// `j` in front of a type that is not a number.
    case notAComplexBase
    /// `v` as a member, an element or an argument.
    case voidIsNoValue
    /// A bit-field that is not a member of a structure or union.
    case bitFieldOutsideStructure
    // Limits.
    /// The string is longer than `EncodingLimits.length`.
    case tooLong(limit: Int)
    /// Types nest deeper than `EncodingLimits.depth`.
    case nestedTooDeeply(limit: Int)
    /// More declared arguments than `EncodingLimits.arguments`.
    case tooManyArguments(limit: Int)
    // Layouts that the string does not determine.
    /// The type is larger than `EncodingLimits.size`.
    case tooLarge(limit: Int)
    /// The body of the structure or union is not given.
    case opaque
    /// A bit-field that gives only its width: its storage type is unknown.
    case bitFieldWithoutStorage
    /// A bit-field is wider than its declared type.
    case bitFieldTooWide(limit: Int)
    /// A bit-field crosses a unit of its declared type, so the structure is packed.
    case bitFieldCrossesUnit
    /// A bit-field begins before the end of the previous member.
    case bitFieldOverlaps
    /// A vector whose alignment is not given.
    case vectorWithoutAlignment
    /// A function as a value; only a pointer to it is a value.
    case functionIsNoValue
    /// A structure that contains itself by value.
    case containsItself
    /// The registered layout of the structure has another number of members.
    case registeredOffsets(expected: Int, given: Int)
    /// An array as a result: functions in C cannot return one.
    case arrayResult
    /// A vector is passed by value, in registers that frames do not have.
    case vectorByValue
    /// A small structure with a registered layout whose member offsets are unknown.
    case membersUnknown
    /// A structure that gcc and clang pass by value in different ways, or whose registers depend on
    /// what an encoding does not tell. It can be passed by pointer.
    case compilersDisagree
    /// A member does not fit into the registered size of its structure.
    case registeredMemberOutside(size: Int)
    // Requirements of methods.
    /// The first two arguments are not a receiver (`@`) and a selector (`:`).
    case notAMethod
    /// The selector has another number of colons than its method has declared arguments.
    indirect case selectorArity(selector: String, colons: Int, arguments: Int)
  }
}

extension TypeEncodingError.Reason: CustomStringConvertible {
  public var description: String {
    switch self {
    case .empty: "nothing was given; the shortest encoding is one letter, such as 'i'"
    case .unexpectedEnd: "a type was expected, but the string ends here"
    case .unknownCode(let byte): "no type begins with \(Self.name(of: byte))"
    case .nameOfType(let name, let encoding):
      "an encoding has letters for types, not their names; '\(name)' is '\(encoding)'"
    case .trailingCharacters: "one type was expected, but more text follows it"
    case .invalidUTF8: "the bytes are not UTF-8"
    case .unbalancedName:
      "a bracket in the name is not closed, or was never opened; any other name does as well"
    case .invalidName:
      "a structure needs a name or members, and its name has no control characters"
    case .unterminated(let what, let closer): "the \(what) is not closed with '\(closer)'"
    case .malformedVector: "a vector is written '![size,alignment type]' or '<count type>'"
    case .missingNumber:
      "a number was expected: the length of an array, as in '[3i]', or a bit-field's width"
    case .numberTooLarge(let limit): "the number is larger than \(limit)"
    case .notAComplexBase: "'j' (complex) can only stand before a number, as in 'jd'"
    case .voidIsNoValue: "'v' (void) can only be a result, or what a pointer points to"
    case .bitFieldOutsideStructure: "a bit-field can only be a member of a structure or union"
    case .tooLong(let limit): "the string is longer than \(limit) bytes"
    case .nestedTooDeeply(let limit): "types nest more than \(limit) deep"
    case .tooManyArguments(let limit): "there are more than \(limit) declared arguments"
    case .tooLarge(let limit): "the type is larger than \(limit) bytes"
    case .opaque:
      "the members are not given, so the size is unknown; write them, as in '{Point=dd}', or "
        + "register the layout"
    case .bitFieldWithoutStorage:
      "a width alone does not determine the bit-field's type; register the structure's layout"
    case .bitFieldTooWide(let limit): "the bit-field is wider than its type of \(limit) bits"
    case .bitFieldCrossesUnit:
      "the structure is packed, so this bit-field crosses a unit of its type; register its layout"
    case .bitFieldOverlaps: "the bit-field overlaps the member in front of it"
    case .vectorWithoutAlignment:
      "this spelling of a vector does not give its alignment; write '![size,alignment type]'"
    case .functionIsNoValue: "a function can only be passed by pointer; write '^?' instead of '?'"
    case .containsItself: "the structure contains itself; it can only hold a pointer to itself"
    case .registeredOffsets(let expected, let given):
      "the structure has \(expected) members, but its registered layout has \(given) offsets"
    case .arrayResult: "a C function cannot return an array; return a pointer"
    case .registeredMemberOutside(let size):
      "a member does not fit into the \(size) bytes that were registered for the structure"
    case .vectorByValue: "a vector cannot be passed by value; pass a pointer to it"
    case .membersUnknown:
      "to pass the structure by value, register the offsets of its members too"
    case .compilersDisagree:
      "compilers may pass this structure by value in different ways; pass a pointer to it"
    case .notAMethod: "the first arguments of a method must be '@' and ':', as in 'v@:i'"
    case .selectorArity(let selector, let colons, let arguments):
      "the selector '\(selector)' has \(colons) colon\(colons == 1 ? "" : "s"), but its method takes \(arguments) "
        + "argument\(arguments == 1 ? "" : "s"); write one colon for each argument"
        + (colons == 0 && arguments == 1 ? ", as in '\(selector):'" : "")
    }
  }

  private static func name(of byte: UInt8) -> String {
    switch byte {
    case 0x20: "a blank"
    case 0x21...0x7E: "'\(Character(Unicode.Scalar(byte)))'"
    default: "byte 0x\(String(byte, radix: 16))"
    }
  }
}

extension TypeEncodingError {
  private static let encodings = [
    "void": "v", "bool": "B", "_Bool": "B", "Bool": "B", "char": "c", "short": "s", "int": "i",
    "long": "q", "float": "f", "double": "d", "size_t": "Q", "int32_t": "i", "int64_t": "q",
    "longdouble": "D", "Int": "q", "Int32": "i", "Double": "d", "Float": "f", "String": "*",
  ]

  /// The error of text that begins with the name of a type instead of an encoding. Some names are also
  /// encodings that no compiler writes: "int" would be a function of a 128-bit number.
  package static func nameOfType(_ text: String) -> TypeEncodingError? {
    func isInName(_ character: Character) -> Bool {
      character.isLetter || character.isNumber || character == "_"
    }
    let name = text.prefix(while: isInName)
    let next = text.dropFirst(name.count).first ?? " "
    guard let first = encodings[String(name)], " (,*".contains(next) else { return nil }
    // "double(double, double)" is "ddd". Only the first name is translated if there is anything else, or more
    // than a list of names.
    let single = text.replacing("long long", with: "long").replacing(
      "long double", with: "longdouble")
    let words = single.split { " (,)".contains($0) }
    let all = words.enumerated().map { $0 > 0 && $1 == "void" ? "" : encodings[String($1)] }
    if text.count > 60 || all.contains(nil) {
      return TypeEncodingError(
        reason: .nameOfType(name: String(name), encoding: first), offset: 0, encoding: text)
    }
    return TypeEncodingError(
      reason: .nameOfType(name: text, encoding: all.compactMap(\.self).joined()), offset: 0,
      encoding: text)
  }
}

extension TypeEncodingError: CustomStringConvertible {
  /// The reason, then the string and a caret under the byte on lines of their own, which stay aligned
  /// after any prefix. Long strings are truncated.
  public var description: String {
    "\(reason)\n\(CaretLine.excerpt(of: encoding, at: offset))"
  }
}
