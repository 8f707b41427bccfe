// SPDX-License-Identifier: Apache-2.0
#if canImport(SwiftSyntaxMacros)
  import SwiftSyntax

  /// A requirement of a protocol as it is written: a method, a property or a subscript.
  struct Requirement {
    enum Kind { case method, property, list }

    let kind: Kind
    let declaration: DeclSyntax
    let attributes: [AttributeSyntax]
    let modifiers: DeclModifierListSyntax
    let keyword: TokenSyntax
    /// The name of a method or a property, and the keyword of a subscript.
    let name: TokenSyntax
    private(set) var generics: GenericParameterClauseSyntax?
    private(set) var clause: GenericWhereClauseSyntax?
    private(set) var parameters: [FunctionParameterSyntax] = []
    private(set) var result: TypeSyntax?
    private(set) var getter: AccessorDeclSyntax?
    private(set) var isSettable = false
    private(set) var isAsync = false
    private(set) var thrown: ThrowsClauseSyntax?

    /// The requirement of a declaration; nil for an initializer or a type.
    init?(_ declaration: DeclSyntax) {
      self.declaration = declaration
      let attributes: AttributeListSyntax
      var block: AccessorBlockSyntax?
      if let function = declaration.as(FunctionDeclSyntax.self) {
        (kind, keyword, name) = (.method, function.funcKeyword, function.name)
        (attributes, modifiers) = (function.attributes, function.modifiers)
        (generics, clause) = (function.genericParameterClause, function.genericWhereClause)
        parameters = Array(function.signature.parameterClause.parameters)
        result = function.signature.returnClause?.type
        isAsync = function.signature.effectSpecifiers?.asyncSpecifier != nil
        thrown = function.signature.effectSpecifiers?.throwsClause
      } else if let property = declaration.as(VariableDeclSyntax.self),
        let binding = property.bindings.first,
        let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
      {
        (kind, keyword, name) = (.property, property.bindingSpecifier, pattern.identifier)
        (attributes, modifiers) = (property.attributes, property.modifiers)
        (result, block) = (binding.typeAnnotation?.type, binding.accessorBlock)
      } else if let list = declaration.as(SubscriptDeclSyntax.self) {
        (kind, keyword, name) = (.list, list.subscriptKeyword, list.subscriptKeyword)
        (attributes, modifiers) = (list.attributes, list.modifiers)
        (generics, clause) = (list.genericParameterClause, list.genericWhereClause)
        parameters = Array(list.parameterClause.parameters)
        (result, block) = (list.returnClause.type, list.accessorBlock)
      } else {
        return nil
      }
      self.attributes = attributes.compactMap { $0.as(AttributeSyntax.self) }
      guard case .accessors(let accessors)? = block?.accessors else { return }
      getter = accessors.first { $0.accessorSpecifier.text == "get" }
      isSettable = accessors.contains { $0.accessorSpecifier.text == "set" }
      isAsync = getter?.effectSpecifiers?.asyncSpecifier != nil
      thrown = getter?.effectSpecifiers?.throwsClause
    }

    /// The name as a program writes it: `chat(_:upload:)`.
    var subject: String {
      if kind == .property { return name.bare }
      // A parameter of a subscript has a label only if it is written with two names.
      let labels = parameters.map { parameter in
        kind == .list && parameter.secondName == nil ? "_" : parameter.firstName.text
      }
      return "\(name.bare)(\(labels.labels))"
    }

    /// The first word of its message.
    var word: String { kind == .list ? "subscript" : name.word }

    /// The attributes of this name, without their module.
    func attributes(_ name: String) -> [AttributeSyntax] {
      attributes.filter { $0.attributeName.bareName == name }
    }

    func has(_ modifier: String) -> Bool { modifiers.contains { $0.name.text == modifier } }

    var isStatic: Bool { has("static") || has("class") }

    /// The words for the actor that it belongs to, or for none, each with a space behind it.
    var isolation: String {
      let words =
        attributes.filter(\.namesGlobalActor).map(\.trimmedDescription)
        + modifiers.filter(\.isNonisolated).map(\.trimmedDescription)
      return words.map { $0 + " " }.joined()
    }

    /// The effects behind the parameters, or behind `get`.
    var effects: String {
      (isAsync ? " async" : "") + (thrown.map { " \($0.trimmedDescription)" } ?? "")
    }

    /// The doc comment, as lines.
    var comment: String {
      declaration.leadingTrivia.compactMap { piece -> String? in
        switch piece {
        case .docLineComment(let text), .docBlockComment(let text): "  \(text)\n"
        default: nil
        }
      }.joined()
    }
  }

  extension DeclModifierSyntax {
    var isNonisolated: Bool { name.text == "nonisolated" }
  }

  extension AttributeSyntax {
    var namesGlobalActor: Bool {
      arguments == nil && attributeName.trimmedDescription.hasSuffix("Actor")
    }
  }
#endif
