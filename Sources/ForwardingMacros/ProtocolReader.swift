// SPDX-License-Identifier: Apache-2.0
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Reads a protocol, and returns its proxy or diagnoses what prevents one.
struct ProtocolReader {
  let declaration: ProtocolDeclSyntax
  /// The protocol of another module that the declaration restates; nil for a protocol of this
  /// module.
  let foreign: String?
  private(set) var diagnostics: [Diagnostic] = []
  var names = Names()
  /// The proxy, filled in while the protocol is read.
  var proxy: Proxy
  /// The names for the extension of a protocol inside of another type; nil at the top of a file.
  private var nested: NestedNames?
  /// Whether the proxy is read for the extension of a nested protocol.
  private let isOutside: Bool
  /// The requirement that is read, as its declaration names it: `chat(_:upload:)`.
  var subject = ""
  /// The name of the protocol.
  var name: String { declaration.name.bare }

  /// - Parameters:
  ///   - foreign: the protocol of another module that the declaration restates.
  ///   - isExtension: whether the proxy is for the extension of the protocol alone.
  init(
    _ declaration: ProtocolDeclSyntax, as foreign: String? = nil,
    in context: some MacroExpansionContext, isExtension: Bool = false
  ) {
    self.declaration = declaration
    self.foreign = foreign
    nested = foreign == nil ? NestedNames(declaration, in: context) : nil
    isOutside = isExtension && nested != nil
    let place = isOutside ? nested.map { "\($0.place)." } ?? "" : ""
    proxy = Proxy(
      name: foreign ?? place + declaration.name.text,
      className: "\(place)\(declaration.name.bare)Proxy")
    proxy.access =
      AccessWord.of(declaration, in: context).map { $0 == "private" ? "fileprivate " : "\($0) " }
      ?? ""
    proxy.isAccessAround = AccessWord.written(declaration.modifiers) == nil
    let isNonisolated = declaration.modifiers.contains { $0.name.text == "nonisolated" }
    proxy.nonisolated = isNonisolated ? "nonisolated " : ""
    proxy.isForeign = foreign != nil
    proxy.isNested = nested != nil
    proxy.hasDeprecated = declaration.memberBlock.hasToken { $0.text == "deprecated" }
  }

  /// Makes the proxy; nil if something was refused.
  mutating func read() -> Proxy? {
    readInheritance()
    if nested != nil,
      let modifier = declaration.modifiers.first(where: { $0.name.text == "private" })
    {
      refuse(.privateNested, name, at: modifier)
    }
    readAttributes()
    readParameters()
    proxy.parts = read(declaration.memberBlock.members)
    return diagnostics.isEmpty ? proxy : nil
  }

  mutating func refuse(_ refusal: Refusal, _ names: String..., at node: some SyntaxProtocol) {
    diagnostics.append(refusal.error(names, at: node))
  }

  /// Reads members, including those inside `#if`, whose clauses may use the same names.
  private mutating func read(
    _ members: MemberBlockItemListSyntax, under conditions: [String] = []
  ) -> [ProxyMember] {
    var parts: [ProxyMember] = []
    for member in members {
      guard let fork = member.decl.as(IfConfigDeclSyntax.self) else {
        if var part = readMember(member.decl) {
          part.conditions = conditions
          parts.append(part)
        }
        continue
      }
      let before = names
      var (all, others) = (names, conditions)
      for clause in fork.clauses {
        names = before
        let own = clause.condition.map { "(\($0.trimmedDescription))" }
        if case .decls(let members)? = clause.elements {
          parts += read(members, under: others + (own.map { [$0] } ?? []))
        }
        if let own { others.append("!\(own)") }
        all.formUnion(names)
      }
      names = all
    }
    return parts
  }

  /// Reads a requirement: for the extension of a nested protocol with other names, and otherwise
  /// with the members of the proxy that have these names. Conforming types and the proxy see the type aliases
  /// of the protocol.
  private mutating func readMember(_ declaration: DeclSyntax) -> ProxyMember? {
    if let requirement = Requirement(declaration) {
      guard let outside = nested?.outside(requirement, access: proxy.access) else {
        return read(requirement)
      }
      if isOutside { return read(outside.requirement) }
      var member = read(requirement)
      member.beside = outside.beside
      return member
    }
    if let initializer = declaration.as(InitializerDeclSyntax.self) {
      let labels = initializer.signature.parameterClause.parameters.map(\.firstName.text)
      refuse(.member, "init(\(labels.labels))", name, at: initializer.initKeyword)
    } else if let function = declaration.as(FunctionDeclSyntax.self) {
      // An operator has an argument of the type `Self`.
      refuse(.member, function.name.text, name, at: function.name)
    } else if let type = declaration.as(AssociatedTypeDeclSyntax.self),
      !proxy.parameters.contains(where: { $0.name == type.name.text })
    {
      // The targets of the proxy have it in their type.
      refuse(.associatedType, type.name.text, name, type.name.text, at: type.associatedtypeKeyword)
    }
    return nil
  }
}

/// The access modifier of a protocol, as far as the source around it says.
private enum AccessWord {
  static let order = ["private", "fileprivate", "internal", "package", "public", "open"]

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
