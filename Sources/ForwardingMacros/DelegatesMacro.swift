// SPDX-License-Identifier: Apache-2.0
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Delegates`: a property that reads as the object of its protocol, and beside it the multicast behind
/// that object, named with a `$`.
enum DelegatesMacro {
  /// The name of the property, that of the class of its object, and the modifiers of the multicast. nil for what
  /// the compiler refuses by itself.
  private static func read(
    _ declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
  ) throws -> (name: String, proxy: String, modifiers: String)? {
    guard let property = declaration.as(VariableDeclSyntax.self),
      let binding = property.bindings.first, property.bindings.count == 1,
      let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.bare
    else { return nil }
    func refused(
      _ refusal: Refusal, _ names: String..., at node: some SyntaxProtocol
    ) -> DiagnosticsError {
      DiagnosticsError(diagnostics: [refusal.error(names, at: node)])
    }
    let isStatic = property.modifiers.contains { $0.name.text == "static" }
    let places: [SyntaxKind] =
      [.classDecl, .actorDecl, .structDecl] + (isStatic ? [.enumDecl, .extensionDecl] : [])
    guard let place = context.lexicalContext.first, places.contains(place.kind) else {
      throw refused(.noProperty, at: property)
    }
    let words = ["weak", "unowned", "lazy"]
    if let word = property.modifiers.first(where: {
      words.contains($0.name.text) || $0.detail != nil
    }) {
      throw refused(.delegatesWord, name, word.trimmedDescription, at: word)
    }
    if let value = binding.initializer {
      throw refused(.delegatesValue, name, name, at: value.value)
    }
    if let block = binding.accessorBlock { throw refused(.delegatesAccessors, name, at: block) }
    guard let type = binding.typeAnnotation?.type else { return nil }
    guard let proxy = proxy(of: type) else { throw refused(.delegatesType, name, at: type) }
    let modifiers = property.modifiers.map { $0.trimmedDescription + " " }.joined()
    return (name, proxy, modifiers)
  }

  /// The class that `@Forwardable` writes for the protocol of an `any` type, which may be composed with
  /// what has no requirements.
  private static func proxy(of type: TypeSyntax) -> String? {
    guard let existential = type.as(SomeOrAnyTypeSyntax.self),
      existential.someOrAnySpecifier.text == "any"
    else { return nil }
    let protocols = existential.constraint.composed.filter {
      !["Sendable", "AnyObject"].contains($0.bareName)
    }
    guard protocols.count == 1, let named = protocols.first,
      named.is(IdentifierTypeSyntax.self) || named.is(MemberTypeSyntax.self)
    else { return nil }
    return named.trimmedDescription.replacing("`", with: "").proxyName
  }
}

extension DelegatesMacro: AccessorMacro {
  static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [AccessorDeclSyntax] {
    // The peer role emits the diagnostics.
    guard let property = try? read(declaration, in: context) else {
      // Without a getter, the compiler would emit one, too.
      let isComputed = declaration.as(VariableDeclSyntax.self)?.bindings.first?.accessorBlock != nil
      return isComputed ? [] : ["get { \(raw: Spelling.swift)fatalError() }"]
    }
    return ["get { $\(raw: property.name).proxy }"]
  }
}

extension DelegatesMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let (name, proxy, modifiers) = try read(declaration, in: context) else { return [] }
    let hint = hint(in: context).map { "  // \($0)\n" } ?? ""
    return [
      "\(raw: modifiers)let $\(raw: name) = \(raw: Spelling.forwarding)Multicast<\(raw: proxy)>(\(raw: hint))"
    ]
  }

  /// A comment for the line at which the compiler reports an actor of the protocol, which the macro cannot see.
  private static func hint(in context: some MacroExpansionContext) -> String? {
    let scope = context.lexicalContext.first
    let attributes = scope?.asProtocol((any WithAttributesSyntax).self)?.attributes ?? []
    guard let type = scope?.asProtocol((any NamedDeclSyntax).self)?.name.bare,
      scope?.is(ActorDeclSyntax.self) == false,
      !attributes.contains(where: { $0.as(AttributeSyntax.self)?.namesGlobalActor == true })
    else { return nil }
    return "if it is main actor-isolated: write '@MainActor' on '\(type)', too"
  }
}
