// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The names that an extension uses for a protocol inside of another type.
///
/// The extension is at the top of the file, and does not see the types beside the protocol. The
/// proxy is beside the protocol: it has a type alias for each type of a requirement, and a function
/// for the value of each `@Otherwise`.
final class NestedNames: SyntaxRewriter {
  /// The types around the protocol, such as `App.Chat`.
  let place: String
  /// The proxy as the extension names it, such as `App.Chat.DelegateProxy`.
  private let proxy: String
  /// The names that mean the same in the extension: type aliases and associated types of the
  /// protocol.
  private let own: Set<String>
  private var count = 0

  // Of the requirement that is rewritten.
  private var typeParameters: [String] = []
  private var types: [(type: String, alias: String)] = []
  /// The call in place of the value of `@Otherwise`.
  private var otherwise: String?

  /// Names that mean the same everywhere, or that the reader of a protocol knows.
  private static let known = [
    "Swift", "Self", "Void", "Never", "Error", "Optional", "MainActor", "Span", "MutableSpan",
    "OutputSpan", "RawSpan", "MutableRawSpan", "OutputRawSpan", "UTF8Span",
  ]

  /// The names for a protocol at this place; nil if no other type is around it.
  init?(_ declaration: ProtocolDeclSyntax, in context: some MacroExpansionContext) {
    let names = context.lexicalContext.reversed().compactMap { scope in
      scope.asProtocol((any NamedDeclSyntax).self)?.name.trimmedDescription
        ?? scope.as(ExtensionDeclSyntax.self)?.extendedType.trimmedDescription
    }
    if names.isEmpty { return nil }
    place = names.joined(separator: ".")
    let parameters = declaration.primaryTypes.map(\.text)
    let arguments = parameters.isEmpty ? "" : "<\(parameters.joined(separator: ", "))>"
    proxy = "\(place).\(declaration.name.bare)Proxy\(arguments)"
    own = Set(
      declaration.members(TypeAliasDeclSyntax.self).map(\.name.text) + parameters + Self.known)
  }

  /// Whether the compiler refuses a protocol at this place, or its extension: in a function, or in
  /// a generic type. No proxy is written then, so that its error is the only one.
  static func isRefused(in context: some MacroExpansionContext) -> Bool {
    context.lexicalContext.contains { scope in
      scope.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
        || scope.asProtocol((any DeclGroupSyntax).self) == nil
    }
  }

  /// Rewrites a requirement for the extension.
  ///
  /// - Parameter access: the access modifier of the proxy.
  /// - Returns: the requirement, and the members of the proxy that it uses.
  func outside(_ requirement: Requirement, access: String) -> (
    requirement: Requirement, beside: [String]
  ) {
    let value = requirement.otherwise(of: proxy, number: count)
    (typeParameters, types, otherwise) = (requirement.typeParameters, [], value?.call)
    let rewritten = rewrite(requirement.declaration).as(DeclSyntax.self)
    count += types.count + 1
    let aliases = types.map { "  \(access)typealias \($0.alias) = \($0.type)" }
    return (
      rewritten.flatMap { Requirement($0) } ?? requirement,
      aliases + (value.map { [$0.function] } ?? [])
    )
  }

  override func visit(_ node: IdentifierTypeSyntax) -> TypeSyntax {
    guard isBeside(TypeSyntax(node)) else { return super.visit(node) }
    return alias(of: node.with(\.genericArgumentClause, nil), node, node.genericArgumentClause)
  }

  override func visit(_ node: MemberTypeSyntax) -> TypeSyntax {
    guard isBeside(node.baseType) else { return super.visit(node) }
    return alias(of: node.with(\.genericArgumentClause, nil), node, node.genericArgumentClause)
  }

  override func visit(_ node: AttributeSyntax) -> AttributeSyntax {
    if let otherwise, node.attributeName.bareName == "Otherwise",
      case .argumentList(var list)? = node.arguments
    {
      list[list.startIndex].expression = ExprSyntax(stringLiteral: otherwise)
      return node.with(\.arguments, .argumentList(list))
    }
    return node.namesGlobalActor ? super.visit(node) : node
  }

  /// Whether a type is named without type arguments, by a name that the extension may not see.
  private func isBeside(_ type: TypeSyntax) -> Bool {
    if let type = type.as(MemberTypeSyntax.self) {
      return type.genericArgumentClause == nil && isBeside(type.baseType)
    }
    guard let type = type.as(IdentifierTypeSyntax.self) else { return false }
    return type.moduleSelector == nil && !own.contains(type.name.text)
      && !typeParameters.contains(type.name.text)
  }

  private func alias(
    of name: some TypeSyntaxProtocol, _ node: some TypeSyntaxProtocol,
    _ arguments: GenericArgumentClauseSyntax?
  ) -> TypeSyntax {
    let type = name.trimmedDescription
    let isActor = node.parent?.is(AttributeSyntax.self) ?? false
    let known = types.first { $0.type == type }?.alias
    let alias = known ?? "__Type\(count + types.count)\(isActor ? "Actor" : "")"
    if known == nil { types.append((type, alias)) }
    let given = arguments.map { visit($0).trimmedDescription } ?? ""
    return TypeSyntax(stringLiteral: "\(proxy).\(alias)\(given)").with(
      \.leadingTrivia, node.leadingTrivia
    ).with(\.trailingTrivia, node.trailingTrivia)
  }
}

extension Requirement {
  /// The function of the proxy that returns the value or the error of the `@Otherwise`, and the
  /// call of it.
  fileprivate func otherwise(of proxy: String, number: Int) -> (call: String, function: String)? {
    guard let value = attributes("Otherwise").first?.values.first else { return nil }
    let type =
      value.label?.text == "throw"
      ? thrown?.type?.trimmedDescription ?? Spelling.anyError
      : result?.trimmedDescription ?? Spelling.void
    // Each type parameter is one of the call, as the result need not name it.
    let types = generics?.parameters.map { parameter in
      let name = parameter.name.text
      return parameter.specifier?.text == "each"
        ? (taken: "_: repeat (each \(name)).Type", given: "repeat (each \(name)).self")
        : (taken: "_: \(name).Type", given: "\(name).self")
    }
    let taken = types?.map(\.taken).joined(separator: ", ") ?? ""
    let given = types?.map(\.given).joined(separator: ", ") ?? ""
    return (
      "\(proxy).__otherwise\(number)(\(given))",
      "  \(isolation)fileprivate static func __otherwise\(number)"
        + "\(generics?.trimmedDescription ?? "")(\(taken)) -> "
        + "\(type)\(clause.map { " \($0.trimmedDescription)" } ?? "") { \(value.expression.trimmedDescription) }"
    )
  }
}
