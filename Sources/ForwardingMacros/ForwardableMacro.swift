#if canImport(SwiftSyntaxMacros)
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// `@Forwardable`: reads a protocol, refuses what a face cannot do, and writes the face.
  enum ForwardableMacro: PeerMacro {
    static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      guard let declaration = declaration.as(ProtocolDeclSyntax.self) else {
        context.diagnose(Diagnostic(node: node, message: Refusal.notAProtocol))
        return []
      }
      // Its extension would see neither the face nor the types beside it.
      guard context.lexicalContext.isEmpty else {
        context.diagnose(Diagnostic(node: declaration.name, message: Refusal.nested))
        return []
      }
      var reader = ProtocolReader(declaration)
      guard let face = reader.read() else {
        for diagnostic in reader.diagnostics { context.diagnose(diagnostic) }
        return []
      }
      return [DeclSyntax(stringLiteral: face.source)]
    }
  }

  extension ForwardableMacro: ExtensionMacro {
    static func expansion(
      of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      guard let declaration = declaration.as(ProtocolDeclSyntax.self),
        context.lexicalContext.isEmpty
      else { return [] }
      var reader = ProtocolReader(declaration)
      // What is refused, the other role says.
      return reader.read()?.extensions(of: type.trimmedDescription).compactMap {
        DeclSyntax(stringLiteral: $0).as(ExtensionDeclSyntax.self)
      } ?? []
    }
  }

  /// `@Otherwise` and `@Optional`, which `@Forwardable` reads.
  enum MarkerMacro: PeerMacro {
    static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] { [] }
  }
#endif
