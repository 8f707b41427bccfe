public import TypeEncodings

/// A named list of messages, some required and some optional.
///
/// ```swift
/// let scrolling = try ProtocolDescription(
///   "ScrollDelegate", required: ["scrollView:": "@"], optional: ["didScroll:": "v@:@"])
/// ```
///
/// Two descriptions of one name are the same protocol.
public struct ProtocolDescription: Sendable {
  /// One message of a protocol.
  public struct Message: Hashable, Sendable {
    /// Its name.
    public var selector: Selector
    /// Its types.
    public var signature: MethodSignature
    /// Whether whoever conforms must implement it.
    public var isRequired: Bool
  }

  /// The name.
  public let name: String
  /// The protocol's own messages, required ones first, each in the order of the list given.
  public let messages: [Message]
  /// The protocols that this one includes.
  public let adopted: [ProtocolDescription]

  /// Describes a protocol. Each message is a selector with its encoding, as a method.
  public init(
    _ name: String, adopting adopted: [ProtocolDescription] = [],
    required: KeyValuePairs<String, String> = [:], optional: KeyValuePairs<String, String> = [:]
  ) throws(InvocationError) {
    self.name = name
    self.adopted = adopted
    var messages: [Message] = []
    for (list, isRequired) in [(required, true), (optional, false)] {
      for (selector, encoding) in list {
        let signature = try InvocationError.wrapping { () throws(TypeEncodingError) in
          try MethodSignature(method: encoding, selector: selector)
        }
        messages.append(
          Message(
            selector: try Selector(selector), signature: signature, isRequired: isRequired))
      }
    }
    self.messages = messages
  }

  /// The message for a selector, of this protocol or one that it includes.
  public func message(for selector: Selector) -> Message? {
    if let own = messages.first(where: { $0.selector == selector }) { return own }
    for description in adopted {
      if let inherited = description.message(for: selector) { return inherited }
    }
    return nil
  }

  /// Whether this is the other protocol, or includes it.
  public func includes(_ other: ProtocolDescription) -> Bool {
    self == other || adopted.contains { $0.includes(other) }
  }

  /// What keeps a class from conforming.
  public enum Problem: Hashable, Sendable {
    /// A required message has no method.
    case missing(Selector)
    /// A message, required or optional, has a method of other types.
    case mismatch(Selector, expected: MethodSignature, given: MethodSignature)
  }

  /// Compares the methods of a class with this protocol and all it includes.
  public func problems(of table: MethodTable) -> [Problem] {
    let own = messages.compactMap { message -> Problem? in
      guard let method = table.method(for: message.selector) else {
        return message.isRequired ? .missing(message.selector) : nil
      }
      return method.signature.isInterchangeable(with: message.signature)
        ? nil
        : .mismatch(
          message.selector, expected: message.signature, given: method.signature)
    }
    return own + adopted.flatMap { $0.problems(of: table) }
  }
}

extension ProtocolDescription: Hashable {
  public static func == (one: ProtocolDescription, other: ProtocolDescription) -> Bool {
    one.name == other.name
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
