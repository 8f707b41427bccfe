// SPDX-License-Identifier: Apache-2.0
public import Invocations

/// Why a message may not be sent to other processes.
///
/// ```swift
/// var files = Interface("files")
/// try files.allow("read:", MethodSignature("v@:^v"))  // throws: argument 2 of 'read:' cannot be sent as ^v: it means nothing in another process
/// ```
public enum InterfaceError: Error, Hashable, Sendable {
  /// A type cannot be sent: that of an argument, whose index is that of `Invocation`, or that of
  /// the result if there is no index.
  case refused(selector: String, index: Int?, type: String, Refusal)
  /// The interface already has the message with other types.
  case duplicate(selector: String, expected: String, given: String)
  /// A limit is exceeded: what is counted, at most how many there may be, and how many there are.
  case limit(of: String, Int, given: Int)
  /// Another message of the interface has the same fingerprint, so one of them needs another name.
  case sameFingerprint(selector: String, other: String)
  /// The call plan of the message cannot be made.
  case invalid(selector: String, InvocationError)
  /// The messages of the proxy are not known.
  case noMessages(proxy: SwiftType)

  /// Why a type cannot be sent.
  public enum Refusal: Error, Hashable, Sendable {
    /// A pointer, block, function, object, class or selector: it has a meaning only in its own
    /// process.
    case local
    /// A union, bit-field, `long double`, complex number or vector: machines and compilers disagree
    /// on its bytes.
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
      "\(index.map { "argument \($0)" } ?? "the result") of '\(selector)' cannot be sent as \(type): \(refusal)"
    case .duplicate(let selector, let expected, let given):
      "'\(selector)' is in the interface with the types \(expected), but \(given) is given"
    case .limit(let what, let limit, let given):
      "there are \(given) \(what), but the limit is \(limit)"
    case .sameFingerprint(let selector, let other):
      "'\(selector)' and '\(other)' have the same fingerprint: rename one of them"
    case .invalid(let selector, let error): "'\(selector)' cannot be in the interface: \(error)"
    case .noMessages(let proxy): "no requirement of \(proxy) can be sent as a message"
    }
  }
}

extension InterfaceError.Refusal: CustomStringConvertible {
  public var description: String {
    switch self {
    case .local: "it means nothing in another process"
    case .unportable: "its bytes differ between machines"
    case .notCodable: "the type is not Codable"
    case .traps: "Foundation ends the process for some bytes of it"
    case .shape: "its members are not known, none, or too many"
    case .depth(let limit): "structures nest more than \(limit) deep"
    }
  }
}
