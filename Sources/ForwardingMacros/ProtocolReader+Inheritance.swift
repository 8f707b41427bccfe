#if canImport(SwiftSyntaxMacros)
  import SwiftDiagnostics
  import SwiftSyntax

  // What a protocol inherits, and where it is.
  extension ProtocolReader {
    var inherited: [String] { inheritedTypes.map(\.trimmedDescription) }

    /// Those of a composition one by one.
    private var inheritedTypes: [TypeSyntax] {
      let types = declaration.inheritanceClause?.inheritedTypes.map(\.type) ?? []
      return types.flatMap { type in
        type.as(CompositionTypeSyntax.self)?.elements.map(\.type) ?? [type]
      }
    }

    /// The protocols that it inherits, which have faces of their own.
    var bases: [String] { inherited.filter { !Self.marks.contains($0) } }

    /// What has no requirements for a face.
    private static let marks: Set = ["AnyObject", "Actor", "Sendable", "SendableMetatype"]

    /// Whether its objects are actors, and so the face is one.
    var isOfActors: Bool { inherited.contains("Actor") }

    /// Refuses a requirement of an actor that a face, another actor, could not wait for.
    mutating func checkWaiting(_ function: FunctionDeclSyntax) {
      let isAsync = function.signature.effectSpecifiers?.asyncSpecifier != nil
      if !isOfActors || isAsync || function.modifiers.contains(where: \.isNonisolated) { return }
      let parameters = function.signature.parameterClause
      refuse(
        .actorWaits, at: function.name, "add 'async'",
        replacing(parameters, "\(parameters.trimmedDescription) async"))
    }

    /// What no face can conform to; others are taken for protocols with faces of their own.
    private static let faceless: Set = [
      "Equatable", "Hashable", "Comparable", "Identifiable", "Error", "Codable", "Encodable",
      "Decodable",
      "CustomStringConvertible", "CustomDebugStringConvertible", "NSObjectProtocol",
      "AnyActor", "GlobalActor", "DistributedActor", "ObservableObject", "BitwiseCopyable",
    ]

    /// The attributes of the face: where the protocol may be used, and its global actor.
    var attributes: [String] {
      let attributes = declaration.attributes.compactMap { $0.as(AttributeSyntax.self) }
      let kept: Set = ["available", "preconcurrency", "_spi"]
      return attributes.filter {
        kept.contains($0.attributeName.trimmedDescription) || $0.namesGlobalActor
      }.map(\.trimmedDescription)
    }

    /// The global actor, as an attribute. Others than its name, which ends like that of the main actor, tell a
    /// macro nothing of an attribute.
    var actor: String? {
      declaration.attributes.lazy.compactMap { $0.as(AttributeSyntax.self) }
        .first(where: \.namesGlobalActor)?.trimmedDescription
    }

    mutating func checkInheritance() {
      if let associated = declaration.primaryAssociatedTypeClause {
        refuse(.associatedType, at: associated)
      }
      for type in inheritedTypes {
        let isName = type.is(IdentifierTypeSyntax.self) || type.is(MemberTypeSyntax.self)
        let name = type.trimmedDescription
        if !isName || name.contains("<") || Self.faceless.contains(name) {
          refuse(.inheritance, at: type)
        }
      }
      // A protocol that is inherited is bound to classes, as it has a face.
      guard inherited.allSatisfy({ Self.marks.subtracting(["AnyObject", "Actor"]).contains($0) })
      else { return }
      let name = declaration.name
      let first = declaration.inheritanceClause?.inheritedTypes.first?.type
      let fixed =
        first.map { replacing($0, "AnyObject, \($0.trimmedDescription)") }
        ?? replacing(name, "\(name.text): AnyObject")
      refuse(.notClassBound, at: name, "inherit 'AnyObject'", fixed)
    }
  }

  extension DeclModifierSyntax {
    var isNonisolated: Bool { name.text == "nonisolated" }
  }

  extension AttributeSyntax {
    fileprivate var namesGlobalActor: Bool {
      arguments == nil && attributeName.trimmedDescription.hasSuffix("Actor")
    }
  }
#endif
