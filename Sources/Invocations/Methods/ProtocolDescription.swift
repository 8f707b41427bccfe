// SPDX-License-Identifier: Apache-2.0
public import TypeEncodings

/// A named list of required and optional messages.
///
/// ```swift
/// let scrolling = try ProtocolDescription(
///   "ScrollDelegate", required: ["isScrollable:": "B@:@"], optional: ["didScroll:": "v@:@"])
/// scrolling.requirement(for: "didScroll:")?.isRequired  // false
/// ```
///
/// Two descriptions with equal names are the same protocol.
public struct ProtocolDescription: Sendable {
  /// One message of a protocol.
  public struct Requirement: Hashable, Sendable {
    /// The selector.
    public var selector: Selector
    /// The types.
    public var signature: MethodSignature
    /// Whether a conforming class must implement it.
    public var isRequired: Bool

    package init(selector: Selector, signature: MethodSignature, isRequired: Bool) {
      self.selector = selector
      self.signature = signature
      self.isRequired = isRequired
    }
  }

  /// The name.
  public let name: String
  /// The protocol's own requirements: the required ones first, each in the given order.
  public let requirements: [Requirement]
  /// The protocols that this one includes.
  package let adopted: [ProtocolDescription]

  /// Describes a protocol. Each message is a selector with the encoding of its method.
  ///
  /// - Throws: ``InvocationError/encoding(_:)`` if an encoding is invalid or does not fit its
  ///   selector.
  public init(
    _ name: String, adopting adopted: [ProtocolDescription] = [],
    required: KeyValuePairs<Selector, String> = [:], optional: KeyValuePairs<Selector, String> = [:]
  ) throws(InvocationError) {
    self.name = name
    self.adopted = adopted
    var requirements: [Requirement] = []
    for (list, isRequired) in [(required, true), (optional, false)] {
      for (selector, encoding) in list {
        let signature = try InvocationError.wrapping { () throws(TypeEncodingError) in
          try MethodSignature(method: encoding, selector: selector.name)
        }
        requirements.append(
          Requirement(selector: selector, signature: signature, isRequired: isRequired))
      }
    }
    self.requirements = requirements
  }

  /// Describes a protocol by its requirements.
  package init(_ name: String, _ requirements: [Requirement]) {
    self.name = name
    self.requirements = requirements
    adopted = []
  }

  /// The requirement for a selector, in this protocol or one that it includes.
  public func requirement(for selector: Selector) -> Requirement? {
    if let own = requirements.first(where: { $0.selector == selector }) { return own }
    for description in adopted {
      if let inherited = description.requirement(for: selector) { return inherited }
    }
    return nil
  }

  /// Whether this is the other protocol, or includes it.
  public func includes(_ other: ProtocolDescription) -> Bool {
    self == other || adopted.contains { $0.includes(other) }
  }

  /// A reason why a class does not conform.
  @nonexhaustive
  public enum Problem: Hashable, Sendable {
    /// A required message has no method.
    case missing(Selector)
    /// A message, required or optional, has a method with other types.
    case mismatch(Selector, expected: MethodSignature, given: MethodSignature)
  }

  /// Compares the methods of a class with this protocol and all protocols that it includes.
  public func problems(of table: MethodTable) -> [Problem] {
    let own = requirements.compactMap { requirement -> Problem? in
      guard let method = table.method(for: requirement.selector) else {
        return requirement.isRequired ? .missing(requirement.selector) : nil
      }
      return method.signature.isInterchangeable(with: requirement.signature)
        ? nil
        : .mismatch(
          requirement.selector, expected: requirement.signature, given: method.signature)
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
