// SPDX-License-Identifier: Apache-2.0
import SwiftDiagnostics
import SwiftSyntax

// The inherited protocols, associated types and isolation of a protocol.
extension ProtocolReader {
  /// The inherited types, without compositions and parentheses. `where Self: Named` inherits as `: Named` does.
  private var inheritedTypes: [TypeSyntax] {
    let clause = declaration.inheritanceClause?.inheritedTypes.map(\.type) ?? []
    let types =
      clause + (declaration.genericWhereClause?.requirements.compactMap(\.inherited) ?? [])
    return types.flatMap(\.composed)
  }

  /// What has no requirements for a proxy, or such as any object answers by its identity.
  private static let marks: Set = [
    "AnyObject", "class", "Actor", "NSObjectProtocol", "Sendable", "SendableMetatype", "Copyable",
    "Escapable", "Error", "LocalizedError", "Equatable", "Hashable", "Identifiable",
    "CustomStringConvertible", "CustomDebugStringConvertible",
  ]

  /// Protocols that a proxy cannot conform to. Any other protocol is expected to have a proxy.
  private static let proxyless: Set = [
    "Comparable", "Codable", "Encodable", "Decodable", "AnyActor", "GlobalActor",
    "DistributedActor", "ObservableObject", "BitwiseCopyable", "CaseIterable", "RawRepresentable",
    "Sequence", "Collection", "IteratorProtocol", "AsyncSequence", "AsyncIteratorProtocol",
    "OptionSet", "SetAlgebra", "Strideable", "LosslessStringConvertible", "CodingKey",
    "ExpressibleByStringLiteral",
  ]

  /// Reads the attributes of the proxy: its availability and visibility, and its global actor. A macro sees
  /// only the name of an attribute, so an attribute counts as a global actor if its name ends in `Actor`.
  mutating func readAttributes() {
    let attributes = declaration.attributes.compactMap { $0.as(AttributeSyntax.self) }
    let kept: Set = ["available", "preconcurrency", "_spi"]
    proxy.attributes = attributes.filter {
      kept.contains($0.attributeName.trimmedDescription) || $0.namesGlobalActor
    }.map { $0.trimmedDescription + " " }.joined()
    proxy.actor = attributes.first(where: \.namesGlobalActor)?.trimmedDescription
  }

  /// Reads what the protocol inherits: what any object has, and what needs a proxy of its own.
  mutating func readInheritance() {
    for type in inheritedTypes {
      let (base, text) = (type.bareName, type.trimmedDescription)
      if Self.marks.contains(base) {
        proxy.marks.insert(base)
      } else if type.is(SuppressedTypeSyntax.self) {
        refuse(.noncopyable, name, at: type)
      } else if Self.proxyless.contains(base) {
        refuse(.proxyless, text, name, at: type)
      } else if foreign != nil {
        refuse(.foreignBase, name, text, at: type)
      } else if !proxy.bases.contains(text) {
        proxy.bases.append(text)
      }
    }
  }

  // MARK: Associated types

  /// Makes each primary associated type a type parameter of the proxy.
  mutating func readParameters() {
    let own = Set(associatedTypes.map(\.name.text))
    var conditions: [String] = []
    for requirement in declaration.genericWhereClause?.requirements ?? []
    where requirement.inherited == nil {
      let type = String(requirement.condition.prefix { $0.isInName })
      if own.contains(type) {
        conditions.append(requirement.condition)
      } else if !proxy.bases.isEmpty {
        refuse(.inheritedType, type, name, at: requirement.requirement)
      }
    }
    for primary in declaration.primaryTypes {
      let type = associatedTypes.first { $0.name.text == primary.text }
      if type == nil { refuse(.inheritedType, primary.text, name, at: primary) }
      conditions += type?.genericWhereClause?.requirements.map(\.condition) ?? []
      let bounds = type?.inheritanceClause?.inheritedTypes.map(\.type.trimmedDescription) ?? []
      proxy.parameters.append((primary.text, bounds.joined(separator: " & ")))
    }
    if !proxy.parameters.isEmpty, !conditions.isEmpty {
      proxy.whereClause = " where \(conditions.joined(separator: ", "))"
    }
  }

  var associatedTypes: [AssociatedTypeDeclSyntax] {
    declaration.members(AssociatedTypeDeclSyntax.self)
  }
}

extension TypeSyntax {
  /// The types of a composition, and of what is in parentheses.
  var composed: [TypeSyntax] {
    if let tuple = self.as(TupleTypeSyntax.self) { return tuple.elements.flatMap(\.type.composed) }
    return self.as(CompositionTypeSyntax.self)?.elements.flatMap(\.type.composed) ?? [self]
  }
}

extension ProtocolDeclSyntax {
  /// The members of a kind, but for those under `#if`.
  func members<Member: DeclSyntaxProtocol>(_ kind: Member.Type) -> [Member] {
    memberBlock.members.compactMap { $0.decl.as(kind) }
  }

  /// The names of the primary associated types.
  var primaryTypes: [TokenSyntax] {
    primaryAssociatedTypeClause?.primaryAssociatedTypes.map(\.name) ?? []
  }
}

extension GenericRequirementSyntax {
  fileprivate var condition: String { requirement.trimmedDescription.withoutSelf }

  /// The protocol that `Self` conforms to.
  fileprivate var inherited: TypeSyntax? {
    guard case .conformanceRequirement(let requirement) = requirement,
      requirement.leftType.trimmedDescription == "Self"
    else { return nil }
    return requirement.rightType
  }
}
