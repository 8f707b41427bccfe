// SPDX-License-Identifier: Apache-2.0
#if canImport(SwiftSyntaxMacros)
  import SwiftSyntax
  import SwiftSyntaxMacros

  /// The access modifier of a protocol, as far as the source around it says.
  enum AccessWord {
    private static let order = ["private", "fileprivate", "internal", "package", "public", "open"]

    /// The modifier for the proxy: that of the protocol, or of the extension around it, but no wider
    /// than those of the types around it. nil without one.
    static func of(_ declaration: ProtocolDeclSyntax, in context: some MacroExpansionContext)
      -> String?
    {
      let scopes = context.lexicalContext
      guard let own = written(declaration.modifiers) ?? extended(scopes.first) else { return nil }
      let around = scopes.indices.compactMap { index -> String? in
        guard scopes[index].asProtocol((any NamedDeclSyntax).self) != nil,
          let type = scopes[index].asProtocol((any DeclGroupSyntax).self)
        else { return nil }
        return written(type.modifiers) ?? extended(scopes.dropFirst(index + 1).first) ?? "internal"
      }
      return around.contains { level($0) < level(own) } && level(own) > level("internal")
        ? nil : own
    }

    private static func written(_ modifiers: DeclModifierListSyntax) -> String? {
      modifiers.first { order.contains($0.name.text) && $0.detail == nil }?.name.text
    }

    private static func extended(_ scope: Syntax?) -> String? {
      scope?.as(ExtensionDeclSyntax.self).flatMap { written($0.modifiers) }
    }

    private static func level(_ word: String) -> Int { order.firstIndex(of: word) ?? 0 }
  }
#endif
