// SPDX-License-Identifier: Apache-2.0
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
    func word(_ modifiers: DeclModifierListSyntax, in scope: Int) -> String? {
      let around = scopes.dropFirst(scope).first?.as(ExtensionDeclSyntax.self)
      return written(modifiers) ?? around.flatMap { written($0.modifiers) }
    }
    guard let own = word(declaration.modifiers, in: 0) else { return nil }
    let types = scopes.enumerated().compactMap { index, scope -> String? in
      guard scope.asProtocol((any NamedDeclSyntax).self) != nil,
        let type = scope.asProtocol((any DeclGroupSyntax).self)
      else { return nil }
      return word(type.modifiers, in: index + 1) ?? "internal"
    }
    func level(_ word: String) -> Int { order.firstIndex(of: word) ?? 0 }
    return types.contains { level($0) < level(own) } && level(own) > level("internal") ? nil : own
  }

  static func written(_ modifiers: DeclModifierListSyntax) -> String? {
    modifiers.first { order.contains($0.name.text) && $0.detail == nil }?.name.text
  }
}
