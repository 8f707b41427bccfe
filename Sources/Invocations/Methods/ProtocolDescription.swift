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

  /// Describes a protocol. Each message is a selector with the encoding of its method.
  ///
  /// - Throws: ``InvocationError/encoding(_:)`` if an encoding is invalid or does not fit its
  ///   selector.
  public init(
    _ name: String, required: KeyValuePairs<Selector, String> = [:],
    optional: KeyValuePairs<Selector, String> = [:]
  ) throws(InvocationError) {
    self.name = name
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
  }

  /// The requirement for a selector.
  public func requirement(for selector: Selector) -> Requirement? {
    requirements.first { $0.selector == selector }
  }
}

extension ProtocolDescription: Hashable {
  public static func == (one: ProtocolDescription, other: ProtocolDescription) -> Bool {
    one.name == other.name
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
