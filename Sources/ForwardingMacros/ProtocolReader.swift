// SPDX-License-Identifier: Apache-2.0
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Reads a protocol, and returns its proxy or diagnoses what prevents one.
struct ProtocolReader {
  let declaration: ProtocolDeclSyntax
  /// The protocol of another module that the declaration restates; nil for a protocol of this
  /// module.
  let foreign: TypeSyntax?
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
    _ declaration: ProtocolDeclSyntax, as foreign: TypeSyntax? = nil,
    in context: some MacroExpansionContext, isExtension: Bool = false
  ) {
    self.declaration = declaration
    self.foreign = foreign
    nested = foreign == nil ? NestedNames(declaration, in: context) : nil
    isOutside = isExtension && nested != nil
    let place = isOutside ? nested.map { "\($0.place)." } ?? "" : ""
    proxy = Proxy(
      name: foreign?.trimmedDescription ?? place + declaration.name.text,
      className: "\(place)\(declaration.name.bare)Proxy")
    proxy.access =
      AccessWord.of(declaration, in: context).map {
        $0 == "private" ? "fileprivate " : "\($0) "
      } ?? ""
    proxy.isAccessAround = AccessWord.written(declaration.modifiers) == nil
    proxy.isNonisolated = declaration.modifiers.contains(where: \.isNonisolated)
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

  /// Reads members, including those inside `#if`.
  private mutating func read(_ members: MemberBlockItemListSyntax) -> [ProxyPart] {
    members.compactMap { member in
      if let condition = member.decl.as(IfConfigDeclSyntax.self) {
        return .conditional(read(condition))
      }
      return readMember(member.decl).map { .member($0) }
    }
  }

  /// Reads the clauses of `#if`. Each clause may use the same names as another one.
  private mutating func read(_ condition: IfConfigDeclSyntax) -> [(String, [ProxyPart])] {
    let before = names
    var all = names
    var clauses: [(String, [ProxyPart])] = []
    for clause in condition.clauses {
      names = before
      let head = [clause.poundKeyword.text, clause.condition?.trimmedDescription ?? ""]
      var parts: [ProxyPart] = []
      if case .decls(let members)? = clause.elements { parts = read(members) }
      clauses.append((head.filter { !$0.isEmpty }.joined(separator: " "), parts))
      all.formUnion(names)
    }
    names = all
    return clauses
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
    } else if let type = declaration.as(AssociatedTypeDeclSyntax.self) {
      check(type)
    }
    return nil
  }
}
