// SPDX-License-Identifier: Apache-2.0
#if canImport(SwiftSyntaxMacros)
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// `@Delegates`: a property that reads as the object of its protocol, and beside it the multicast behind
  /// that object, named with a `$`.
  enum DelegatesMacro {
    /// The property of a multicast that is the object of the protocol.
    private static let object = "proxy"

    /// What stands in the way of the property.
    private struct Fault: Error {
      let refusal: Refusal
      let diagnostic: Diagnostic

      init(_ refusal: Refusal, _ names: String..., at node: some SyntaxProtocol) {
        self.refusal = refusal
        diagnostic = refusal.error(names, at: node)
      }
    }

    /// The name of the property, that of the class of its object, and the modifiers of the multicast.
    private static func read(
      _ declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws(Fault) -> (name: String, proxy: String, modifiers: String) {
      guard let property = declaration.as(VariableDeclSyntax.self),
        let binding = property.bindings.first
      else { throw Fault(.noProperty, at: declaration) }
      let isStatic = property.modifiers.contains { $0.name.text == "static" }
      let scope = context.lexicalContext.first
      let stores: [SyntaxKind] = [.classDecl, .actorDecl, .structDecl]
      guard let scope, scope.asProtocol((any DeclGroupSyntax).self) != nil,
        !scope.is(ProtocolDeclSyntax.self),
        isStatic || stores.contains(scope.kind)
      else { throw Fault(.noProperty, at: property) }
      guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.bare,
        property.bindings.count == 1
      else { throw Fault(.severalProperties, at: property.bindings) }
      if property.bindingSpecifier.text != "var" {
        throw Fault(.constantDelegates, name, at: property.bindingSpecifier)
      }
      let words = ["weak", "unowned", "lazy"]
      if let word = property.modifiers.first(where: {
        words.contains($0.name.text) || $0.detail != nil
      }) {
        throw Fault(.delegatesWord, name, word.trimmedDescription, at: word)
      }
      if let value = binding.initializer {
        throw Fault(.delegatesValue, name, name, at: value.value)
      }
      if let block = binding.accessorBlock { throw Fault(.delegatesAccessors, name, at: block) }
      guard let type = binding.typeAnnotation?.type else {
        throw Fault(.delegatesType, name, at: binding.pattern)
      }
      guard let proxy = proxy(of: type) else { throw Fault(.delegatesType, name, at: type) }
      let modifiers = property.modifiers.map { $0.trimmedDescription + " " }.joined()
      return (name, proxy, modifiers)
    }

    /// The class that `@Forwardable` writes for the protocol of an `any` type, which may be composed with
    /// what has no requirements.
    private static func proxy(of type: TypeSyntax) -> String? {
      guard let existential = type.as(SomeOrAnyTypeSyntax.self),
        existential.someOrAnySpecifier.text == "any"
      else { return nil }
      let composed = existential.constraint.as(CompositionTypeSyntax.self)
      let types = composed?.elements.map(\.type) ?? [existential.constraint]
      let protocols = types.filter { !["Sendable", "AnyObject"].contains($0.bareName) }
      guard protocols.count == 1, let named = protocols.first else { return nil }
      if var name = named.as(IdentifierTypeSyntax.self) {
        name.name = .identifier(name.name.bare + "Proxy")
        return name.trimmedDescription
      }
      guard var member = named.as(MemberTypeSyntax.self) else { return nil }
      member.name = .identifier(member.name.bare + "Proxy")
      return member.trimmedDescription
    }
  }

  extension DelegatesMacro: AccessorMacro {
    static func expansion(
      of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
      do throws(Fault) {
        return ["get { $\(raw: try read(declaration, in: context).name).\(raw: object) }"]
      } catch {
        // The peer role emits the diagnostics. Without a getter, the compiler would emit one, too.
        if case .delegatesAccessors = error.refusal { return [] }
        return ["get { \(raw: Spelling.swift)fatalError() }"]
      }
    }
  }

  extension DelegatesMacro: PeerMacro {
    static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      do throws(Fault) {
        let (name, proxy, modifiers) = try read(declaration, in: context)
        return [
          "\(raw: modifiers)let $\(raw: name) = \(raw: Spelling.forwarding)Multicast<\(raw: proxy)>()"
        ]
      } catch {
        context.diagnose(error.diagnostic)
        return []
      }
    }
  }
#endif
