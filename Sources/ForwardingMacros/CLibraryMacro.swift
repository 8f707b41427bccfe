// SPDX-License-Identifier: Apache-2.0
import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@CLibrary`: extends a structure of C functions with what loads it. The types of the functions are
/// those of the memberwise initializer: a type alias is as good as what it stands for.
enum CLibraryMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard let structure = declaration.as(StructDeclSyntax.self) else {
      context.diagnose(Refusal.notAStructure.error(at: node))
      return []
    }
    var diagnostics: [Diagnostic] = []
    let name = structure.name
    let scopes = context.lexicalContext.map { $0 as any SyntaxProtocol } + [structure]
    if scopes.contains(where: {
      $0.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
    }) {
      diagnostics.append(Refusal.genericLibrary.error([name.bare], at: name))
    }
    if structure.attributes.contains(named: "MainActor") {
      diagnostics.append(Refusal.isolatedLibrary.error([name.bare], at: name))
    }
    if !context.lexicalContext.isEmpty, structure.modifiers.contains(where: \.isPrivate) {
      diagnostics.append(Refusal.privateLibrary.error([name.bare], at: name))
    }
    let argument = node.values.first?.expression
    if let argument, argument.plainText == nil {
      diagnostics.append(Refusal.nameOfC.error(["CLibrary", "libc.so.6"], at: argument))
    }
    let members = structure.memberBlock.members.map(\.decl)
    if let initializer = members.first(where: { $0.is(InitializerDeclSyntax.self) }) {
      diagnostics.append(Refusal.libraryInitializer.error([name.bare], at: initializer))
    }
    if let condition = members.first(where: { $0.is(IfConfigDeclSyntax.self) }) {
      diagnostics.append(Refusal.conditionalSymbol.error(at: condition))
    }
    let symbols = members.flatMap { CSymbol.read($0, &diagnostics) }
    for diagnostic in diagnostics { context.diagnose(diagnostic) }
    guard diagnostics.isEmpty, let path = argument?.plainText else { return [] }
    let isNarrowed = context.lexicalContext.contains { scope in
      !scope.is(ExtensionDeclSyntax.self)
        && scope.asProtocol((any WithModifiersSyntax).self)?.modifiers.contains {
          ["public", "package"].contains($0.name.text)
        } != true
    }
    let access = structure.modifiers.first { ["public", "package"].contains($0.name.text) }
    let head =
      type.trimmedDescription + (protocols.isEmpty ? "" : ": \(Spelling.swift)Sendable")
    let source = source(
      head, path, symbols, access.map { isNarrowed ? "" : "\($0.name.text) " } ?? "",
      isUnsafe: structure.attributes.contains(named: "unsafe"))
    return DeclSyntax(stringLiteral: source).as(ExtensionDeclSyntax.self).map { [$0] } ?? []
  }

  /// The members have no isolation, also where the module's default is an actor. Each is found in a statement, so
  /// that a wrong type is not an error of the others.
  private static func source(
    _ head: String, _ path: String, _ symbols: [CSymbol], _ access: String, isUnsafe: Bool
  ) -> String {
    let required = symbols.filter { !$0.isOptional }.map(\.symbol).joined(separator: ", ")
    let finds = symbols.enumerated().map { index, symbol in
      let find = symbol.isOptional ? "_optionalFunction" : "_function"
      let place = "\(symbol.symbol), \\Self.\(symbol.member)"
      return "let __\(index) = try unsafe library.\(find)(\(place))\n"
    }.joined()
    let arguments = symbols.enumerated().map { "\($1.member): __\($0)" }.joined(separator: ", ")
    let library = "\(Spelling.invocations)_LibraryMembers<Self>"
    let throwing = "throws(\(Spelling.invocations)InvocationError)"
    let mark = isUnsafe ? "unsafe " : ""
    return """
      nonisolated extension \(head) {
        private static let __members = \(mark)\(library)(of: \(path), [\(required)]) { library \(throwing) in
          \(finds)return unsafe library._vouched(Self(\(arguments)))
        }

        /// Opens the library and finds all functions, or throws one error with the names of all that
        /// are missing.
        ///
        /// - Safety: the functions must have the types of the members.
        @unsafe \(access)static func load() \(throwing) -> Self {
          try unsafe __members.load()
        }

        /// The functions, which the first use loads. A failed attempt is made again.
        ///
        /// - Safety: the functions must have the types of the members.
        @unsafe \(access)static var shared: Self {
          @unsafe get \(throwing) { try unsafe __members.shared() }
        }
      }
      """
  }
}

/// A member of a structure with `@CLibrary` that is a function of the library.
struct CSymbol {
  /// The label in the memberwise initializer.
  fileprivate let member: String
  /// The name in the library, as a literal.
  fileprivate let symbol: String
  fileprivate let isOptional: Bool

  /// The stored members without a value that a declaration declares.
  static func uninitialized(_ declaration: some DeclSyntaxProtocol) -> [PatternBindingSyntax] {
    guard let variable = declaration.as(VariableDeclSyntax.self),
      !variable.modifiers.contains(where: { $0.name.text == "static" })
    else { return [] }
    return variable.bindings.filter { $0.initializer == nil && $0.isStored }
  }

  fileprivate static func read(
    _ declaration: DeclSyntax, _ diagnostics: inout [Diagnostic]
  ) -> [CSymbol] {
    let attributes = declaration.as(VariableDeclSyntax.self)?.attributes ?? []
    let marks = attributes.compactMap { $0.as(AttributeSyntax.self) }
    let name = marks.first { $0.attributeName.bareName == "Symbol" }?.values.first?.expression
    let isOptional = marks.contains { $0.attributeName.bareName == "Optional" }
    return uninitialized(declaration).map { binding in
      let pattern = binding.pattern.trimmedDescription
      let bare = pattern.replacing("`", with: "")
      if let refused = refused(binding, isOptional: isOptional) {
        diagnostics.append(refused)
      } else if let name, name.plainText == nil {
        diagnostics.append(Refusal.nameOfC.error(["Symbol", bare], at: name))
      }
      // The compiler warns of backticks that a label does not need.
      return CSymbol(
        member: bare.isValidSwiftIdentifier(for: .memberAccess) ? bare : pattern,
        symbol: name?.plainText ?? bare.debugDescription, isOptional: isOptional)
    }
  }

  private static func refused(_ binding: PatternBindingSyntax, isOptional: Bool) -> Diagnostic? {
    let name = binding.pattern.trimmedDescription
    guard let type = binding.typeAnnotation?.type else {
      return Refusal.untypedSymbol.error([name], at: binding)
    }
    if isOptional != type.isOptional { return Refusal.optionalSymbol.error([name], at: type) }
    let isOne = binding.pattern.is(IdentifierPatternSyntax.self) && type.unwrapped.isCFunction
    return isOne ? nil : Refusal.noCFunction.error([name], at: type)
  }
}

extension PatternBindingSyntax {
  /// Whether a variable is stored: it has no accessors, or only observes changes.
  fileprivate var isStored: Bool {
    guard let accessorBlock else { return true }
    guard case .accessors(let accessors) = accessorBlock.accessors else { return false }
    return accessors.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
  }
}

extension TypeSyntax {
  /// What there is of an optional; another type as it is.
  fileprivate var unwrapped: TypeSyntax {
    if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType }
    let arguments = self.as(IdentifierTypeSyntax.self)?.genericArgumentClause?.arguments
    if isOptional, case .type(let type)? = arguments?.first?.argument { return type }
    return self
  }

  /// Whether the type is a function of C, or a name that may stand for one.
  fileprivate var isCFunction: Bool {
    if let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1 {
      return tuple.elements.first?.type.isCFunction ?? false
    }
    if function != nil { return attributes.contains { $0.hasPrefix("@convention(c") } }
    let isName = self.is(IdentifierTypeSyntax.self) || self.is(MemberTypeSyntax.self)
    return isName && !hasToken { $0.tokenKind == .leftAngle }
      && !Names.areSendable(trimmedDescription)
  }
}

extension AttributeListSyntax {
  func contains(named name: String) -> Bool {
    contains { $0.as(AttributeSyntax.self)?.attributeName.bareName == name }
  }
}

extension DeclModifierSyntax {
  fileprivate var isPrivate: Bool { name.text == "private" && detail == nil }
}

extension ExprSyntax {
  /// The source of a string literal in one line without interpolations; nil for any other expression.
  fileprivate var plainText: String? {
    guard let literal = self.as(StringLiteralExprSyntax.self),
      literal.openingQuote.tokenKind == .stringQuote,
      let text = literal.representedLiteralValue, !text.contains("\0")
    else { return nil }
    return literal.trimmedDescription
  }
}
