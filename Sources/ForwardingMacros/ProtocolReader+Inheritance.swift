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
    private static let marks: Set = ["AnyObject", "Sendable", "SendableMetatype"]

    /// What no face can conform to; others are taken for protocols with faces of their own.
    private static let faceless: Set = [
      "Equatable", "Hashable", "Comparable", "Identifiable", "Error", "Codable", "Encodable",
      "Decodable",
      "CustomStringConvertible", "CustomDebugStringConvertible", "NSObjectProtocol", "Actor",
      "AnyActor", "GlobalActor", "DistributedActor", "ObservableObject", "BitwiseCopyable",
    ]

    private static let actorless = [
      "MainActor", "Forwardable", "objc", "available", "preconcurrency",
    ]

    mutating func checkInheritance() {
      for case .attribute(let attribute) in declaration.attributes
      where !Self.actorless.contains(attribute.attributeName.trimmedDescription) {
        refuse(.otherActor, at: attribute)
      }
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
      guard inherited.allSatisfy({ Self.marks.contains($0) && $0 != "AnyObject" }) else { return }
      let name = declaration.name
      let first = declaration.inheritanceClause?.inheritedTypes.first?.type
      let fixed =
        first.map { replacing($0, "AnyObject, \($0.trimmedDescription)") }
        ?? replacing(name, "\(name.text): AnyObject")
      refuse(.notClassBound, at: name, "inherit 'AnyObject'", fixed)
    }
  }
#endif
