/// A message that may not leave the process, and why.
///
/// ```swift
/// var files = Interface("files")
/// try files.allow("read:", MethodSignature("v@:^v"))  // throws: argument 2 of 'read:' is ^v: an address means nothing elsewhere
/// ```
public enum InterfaceError: Error, Hashable, Sendable {
  /// A type may not cross; of the result, if there is no index. Indices are those of invocations.
  case refused(selector: String, index: Int?, type: String, Refusal)
  /// The interface has the message already, with other types.
  case duplicate(selector: String, expected: String, given: String)
  /// The message has more arguments than the limit.
  case tooManyArguments(selector: String, limit: Int, given: Int)
  /// The message's encoding is longer than the limit.
  case encodingTooLong(selector: String, limit: Int, given: Int)
  /// The message cannot be prepared.
  case invalid(selector: String, InvocationError)
  /// The face's own messages cannot be found.
  case noMessages(face: SwiftType)

  /// Why a type may not cross.
  public enum Refusal: Error, Hashable, Sendable {
    /// `^`, a block, a function.
    case address
    /// `@`: an object has its meaning in its own process.
    case object
    /// `#` or `:`.
    case name
    /// A union does not say which of its members it holds.
    case union
    /// Compilers disagree on where bit-fields lie.
    case bitField
    /// `long double`, complex numbers and vectors differ between machines.
    case unportable
    /// A Swift type that is not `Codable`.
    case notCodable
    /// A structure whose members are not known, that has none, or that has too many.
    case shape
    /// The structure nests too deeply.
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
    case .tooManyArguments(let selector, let limit, let given):
      "'\(selector)' has \(given) arguments, and \(limit) are the limit"
    case .encodingTooLong(let selector, let limit, let given):
      "the encoding of '\(selector)' has \(given) bytes, and \(limit) are the limit"
    case .invalid(let selector, let error): "'\(selector)': \(error)"
    case .noMessages(let face): "\(face) tells none of its messages"
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
    case .shape: "its members are not known, none, or too many"
    case .depth(let limit): "structures nest more than \(limit) deep"
    }
  }
}
