// SPDX-License-Identifier: Apache-2.0
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@_ProxyInView`, an attribute of the proxies that `@Forwardable` writes: adds a second conforming
/// class, inside an extension.
///
/// With whole-module optimization, the compiler looks for protocols with one conforming class,
/// and calls that class's methods directly. It does not see a class that a peer macro adds, such
/// as a proxy, and would treat a proxy as an object of the other class. It does see a class inside
/// an extension.
enum ProxyInViewMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    let isActor = declaration.is(ActorDeclSyntax.self)
    let parameters = declaration.as(ClassDeclSyntax.self)?.genericParameterClause?.parameters
    let arguments = parameters.map { "<\($0.map(\.name.text).joined(separator: ", "))>" } ?? ""
    let name = type.trimmedDescription
    // The extension sees neither a nested protocol nor the types beside it.
    let proxy = name + arguments
    let place = name.split(separator: ".").dropLast().map { $0 + "." }.joined()
    let kept = declaration.attributes.compactMap { $0.as(AttributeSyntax.self) }.filter {
      !$0.attributeName.trimmedDescription.hasSuffix("_ProxyInView")
    }
    let protocols = declaration.inheritanceClause?.inheritedTypes.filter {
      !$0.type.trimmedDescription.hasSuffix("GeneratedProxy")
    }.map(\.type.trimmedDescription)
    let attributes = kept.map { attribute in
      attribute.namesGlobalActor && !place.isEmpty
        ? "@\(proxy).__Actor " : "\(attribute.trimmedDescription) "
    }.joined()
    // Nor does the default isolation of the module matter to it.
    let isolation = isActor || kept.contains(where: \.namesGlobalActor) ? "" : "nonisolated "
    let source = """
      extension \(name) {
        \(attributes)\(isolation)fileprivate \(isActor ? "actor" : "final class") __InView: \(place)\((protocols ?? []).joined(separator: ", ")) {
          nonisolated var __forwarder: \(Spelling.forwarding)_ProxyForwarder { \(Spelling.swift)fatalError() }
        }
      }
      """
    return DeclSyntax(stringLiteral: source).as(ExtensionDeclSyntax.self).map { [$0] } ?? []
  }
}
