// SPDX-License-Identifier: Apache-2.0
/// Why a message may not be sent to other processes.
///
/// ```swift
/// var files = Interface("files")
/// try files.allow("read:", MethodSignature("v@:^v"))  // throws: argument 2 of 'read:' is ^v: an address means nothing elsewhere
/// ```
public enum InterfaceError: Error, Hashable, Sendable {
  /// A type cannot be sent: that of an argument, whose index is that of `Invocation`, or that of
  /// the result if there is no index.
  case refused(selector: String, index: Int?, type: String, Refusal)
  /// The interface already has the message with other types.
  case duplicate(selector: String, expected: String, given: String)
  /// The interface's name has more bytes than the limit.
  case nameTooLong(limit: Int, given: Int)
  /// The message has more arguments than the limit.
  case tooManyArguments(selector: String, limit: Int, given: Int)
  /// The message's encoding is longer than the limit.
  case encodingTooLong(selector: String, limit: Int, given: Int)
  /// Another message of the interface has the same fingerprint, so one of them needs another name.
  case sameFingerprint(selector: String, other: String)
  /// The call plan of the message cannot be made.
  case invalid(selector: String, InvocationError)
  /// The messages of the face are not known.
  case noMessages(face: SwiftType)

  /// Why a type cannot be sent.
  public enum Refusal: Error, Hashable, Sendable {
    /// A pointer (`^`), a block or a function: an address has no meaning in another process.
    case address
    /// An object (`@`): it has a meaning only in its own process.
    case object
    /// A class (`#`) or a selector (`:`).
    case name
    /// A union: it does not say which of its members it holds.
    case union
    /// A bit-field: compilers disagree on its position.
    case bitField
    /// A `long double`, complex number or vector: these differ between machines.
    case unportable
    /// A Swift type that is not `Codable`.
    case notCodable
    /// A type of Foundation that ends the process for some bytes: `IndexSet`, `CharacterSet`,
    /// `URLComponents` or `DateInterval`, or an optional or a collection of it.
    case traps
    /// A structure whose members are unknown, or that has no members or too many.
    case shape
    /// A structure that nests too deeply.
    case depth(limit: Int)
  }
}

extension InterfaceError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .refused(let selector, let index, let type, let refusal):
      "\(index.map { "argument \($0)" } ?? "the result") of '\(selector)' is \(type): \(refusal)"
    case .duplicate(let selector, let expected, let given):
      "'\(selector)' is in the interface as \(expected), but \(given) is given"
    case .nameTooLong(let limit, let given):
      "the name of the interface has \(given) bytes, and \(limit) are the limit"
    case .tooManyArguments(let selector, let limit, let given):
      "'\(selector)' has \(given) arguments, and \(limit) are the limit"
    case .encodingTooLong(let selector, let limit, let given):
      "the encoding of '\(selector)' has \(given) bytes, and \(limit) are the limit"
    case .sameFingerprint(let selector, let other):
      "'\(selector)' has the fingerprint of '\(other)': one of them needs another name"
    case .invalid(let selector, let error): "'\(selector)': \(error)"
    case .noMessages(let face): "\(face) names none of its messages"
    }
  }
}

extension InterfaceError.Refusal: CustomStringConvertible {
  public var description: String {
    switch self {
    case .address: "an address means nothing elsewhere"
    case .object: "an object cannot leave its process"
    case .name: "a class or selector cannot leave its process"
    case .union: "a union does not say which member it holds"
    case .bitField: "compilers disagree on where bit-fields lie"
    case .unportable: "its bytes differ between machines"
    case .notCodable: "the type is not Codable"
    case .traps: "Foundation ends the process for some bytes of it"
    case .shape: "its members are not known, none, or too many"
    case .depth(let limit): "structures nest more than \(limit) deep"
    }
  }
}
