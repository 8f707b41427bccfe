// SPDX-License-Identifier: Apache-2.0
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Forwardable`: reads a protocol, diagnoses what a proxy does not support, and writes the proxy.
enum ForwardableMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard let declaration = declaration.as(ProtocolDeclSyntax.self) else {
      context.diagnose(Refusal.notAProtocol.error(at: node))
      return []
    }
    if NestedNames.isRefused(in: context) { return [] }
    let foreign = foreign(of: node)
    var reader = ProtocolReader(declaration, as: foreign, in: context)
    if node.arguments != nil, foreign == nil { reader.refuse(.noForeignProtocol, at: node) }
    let proxy = reader.read()
    for diagnostic in reader.diagnostics { context.diagnose(diagnostic) }
    return proxy.map { [DeclSyntax(stringLiteral: $0.source)] } ?? []
  }

  /// The protocol of another module that the argument `as:` names, without `any`.
  private static func foreign(of node: AttributeSyntax) -> String? {
    let argument = node.values.first?.expression.trimmedDescription
    return argument?.wholeMatch(of: /\(\s*any\s+([^()&]+)\)\.self/).map { String($0.1) }
  }
}

extension ForwardableMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard let declaration = declaration.as(ProtocolDeclSyntax.self), node.arguments == nil,
      !NestedNames.isRefused(in: context)
    else { return [] }
    // The peer role emits the diagnostics.
    var reader = ProtocolReader(declaration, in: context, isExtension: true)
    return reader.read()?.extensions(of: type.trimmedDescription).compactMap {
      DeclSyntax(stringLiteral: $0).as(ExtensionDeclSyntax.self)
    } ?? []
  }
}

/// `@Otherwise` and `@Optional`, which `@Forwardable` reads, and `@Symbol`, which `@CLibrary` reads, as it
/// does `@Optional`. The macro itself only diagnoses markers that nothing reads.
enum MarkerMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    let name = node.attributeName.bareName
    let scope = context.lexicalContext.first
    let isLibrary = scope?.isMarked("CLibrary") == true
    if name == "Symbol" || isLibrary && name == "Optional" {
      if !isLibrary || CSymbol.uninitialized(declaration).isEmpty {
        context.diagnose(Refusal.misplacedSymbol.error([name], at: node))
      }
      return []
    }
    let isRead = scope?.as(ProtocolDeclSyntax.self)?.isMarked("Forwardable")
    if isRead != true || declaration.is(TypeAliasDeclSyntax.self)
      || declaration.is(AssociatedTypeDeclSyntax.self)
    {
      context.diagnose(Refusal.misplaced.error([name], at: node))
    }
    return []
  }
}

extension SyntaxProtocol {
  /// Whether a declaration has the attribute of this name.
  fileprivate func isMarked(_ name: String) -> Bool {
    asProtocol((any WithAttributesSyntax).self)?.attributes.contains(named: name) == true
  }
}
