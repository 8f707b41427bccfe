// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax

/// A requirement of a protocol as it is written: a method, a property or a subscript.
struct Requirement {
  enum Kind { case method, property, list }

  let kind: Kind
  let declaration: DeclSyntax
  let attributes: [AttributeSyntax]
  let modifiers: DeclModifierListSyntax
  /// The name of a method or a property, and the keyword of a subscript.
  let name: TokenSyntax
  let generics: GenericParameterClauseSyntax?
  let clause: GenericWhereClauseSyntax?
  private(set) var parameters: [FunctionParameterSyntax] = []
  private(set) var result: TypeSyntax?
  private(set) var isSettable = false
  /// Whether a call of a method or a getter changes the target.
  private(set) var isMutating = false
  private var specifiers: (any EffectSpecifiersSyntax)?

  /// The requirement of a declaration; nil for an initializer, an operator or a type.
  init?(_ declaration: DeclSyntax) {
    self.declaration = declaration
    var block: AccessorBlockSyntax?
    if let function = declaration.as(FunctionDeclSyntax.self),
      case .identifier = function.name.tokenKind
    {
      (kind, name) = (.method, function.name)
      parameters = Array(function.signature.parameterClause.parameters)
      result = function.signature.returnClause?.type
      specifiers = function.signature.effectSpecifiers
    } else if let property = declaration.as(VariableDeclSyntax.self)?.bindings.first,
      let pattern = property.pattern.as(IdentifierPatternSyntax.self)
    {
      (kind, name) = (.property, pattern.identifier)
      (result, block) = (property.typeAnnotation?.type, property.accessorBlock)
    } else if let list = declaration.as(SubscriptDeclSyntax.self) {
      (kind, name) = (.list, list.subscriptKeyword)
      parameters = Array(list.parameterClause.parameters)
      (result, block) = (list.returnClause.type, list.accessorBlock)
    } else {
      return nil
    }
    let attributed = declaration.asProtocol((any WithAttributesSyntax).self)
    attributes = attributed?.attributes.compactMap { $0.as(AttributeSyntax.self) } ?? []
    modifiers = declaration.asProtocol((any WithModifiersSyntax).self)?.modifiers ?? []
    let generic = declaration.asProtocol((any WithGenericParametersSyntax).self)
    (generics, clause) = (generic?.genericParameterClause, generic?.genericWhereClause)
    isMutating = has("mutating")
    guard case .accessors(let accessors)? = block?.accessors else { return }
    let getter = accessors.first { $0.accessorSpecifier.text == "get" }
    specifiers = getter?.effectSpecifiers
    isMutating = getter?.modifier?.name.text == "mutating"
    isSettable = accessors.contains { $0.accessorSpecifier.text == "set" }
  }

  var isAsync: Bool { specifiers?.asyncSpecifier != nil }
  var thrown: ThrowsClauseSyntax? { specifiers?.throwsClause }

  /// The effects behind the parameters, or behind `get`.
  var effects: String { specifiers.map { " \($0.trimmedDescription)" } ?? "" }

  /// The labels as written. A parameter of a subscript has one only if it is written with two names.
  var labels: [String] {
    parameters.map { kind == .list && $0.secondName == nil ? "_" : $0.firstName.text }
  }

  /// The name as a program writes it: `chat(_:upload:)`.
  var subject: String { kind == .property ? name.bare : "\(name.bare)(\(labels.labels))" }

  /// The name with the types, as the compiler shows it where values are not `Sendable`.
  var typed: String {
    let type = result?.trimmedDescription
    if kind == .property { return "\(word): \(type ?? "")" }
    let types = zip(labels, parameters).map { "\($0): \($1.type.trimmedDescription)" }
    return "\(name.text)(\(types.joined(separator: ", ")))\(type.map { " -> \($0)" } ?? "")"
  }

  /// The first word of its message.
  var word: String { name.word }

  /// The attributes of this name, without their module.
  func attributes(_ name: String) -> [AttributeSyntax] {
    attributes.filter { $0.attributeName.bareName == name }
  }

  func has(_ modifier: String) -> Bool { modifiers.contains { $0.name.text == modifier } }

  /// The names of the type parameters.
  var typeParameters: [String] { generics?.parameters.map(\.name.text) ?? [] }

  var isStatic: Bool { has("static") || has("class") }

  /// The words for the actor that it belongs to, or for none, each with a space behind it.
  var isolation: String {
    let words =
      attributes.filter(\.namesGlobalActor).map(\.trimmedDescription)
      + modifiers.filter { $0.name.text == "nonisolated" }.map(\.trimmedDescription)
    return words.map { $0 + " " }.joined()
  }

  /// The doc comment, as lines.
  var comment: String {
    declaration.leadingTrivia.map { "\($0)" }
      .filter { $0.hasPrefix("///") || $0.hasPrefix("/**") }.map { "  \($0)\n" }.joined()
  }
}

extension AttributeSyntax {
  var namesGlobalActor: Bool {
    arguments == nil && attributeName.trimmedDescription.hasSuffix("Actor")
  }
}
