// SPDX-License-Identifier: Apache-2.0
#if canImport(SwiftSyntaxMacros)
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// `@FaceInView`, an attribute of the faces that `@Forwardable` writes: adds a second conforming
  /// class, inside an extension.
  ///
  /// With whole-module optimization, the compiler looks for protocols with one conforming class,
  /// and calls that class's methods directly. It does not see a class that a peer macro adds, such
  /// as a face, and would treat a face as an object of the other class. It does see a class inside
  /// an extension.
  enum FaceInViewMacro: ExtensionMacro {
    static func expansion(
      of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      let isActor = declaration.is(ActorDeclSyntax.self)
      let face = type.trimmedDescription
      let inherited = declaration.inheritanceClause?.inheritedTypes.map(\.type.trimmedDescription)
      let attributes = declaration.attributes.compactMap { $0.as(AttributeSyntax.self) }.filter {
        !$0.attributeName.trimmedDescription.hasSuffix("FaceInView")
      }.map { $0.trimmedDescription + " " }.joined()
      // The class is never used, so the default isolation of the module does not matter to it.
      let isolation =
        isActor || inherited?.contains { $0.hasPrefix("@") } == true ? "" : "nonisolated "
      let (forwarding, swift) = (Spelling.forwarding, Spelling.swift)
      let source = """
        extension \(face) {
          \(attributes)\(isolation)fileprivate \(isActor ? "actor" : "final class") __InView: \((inherited ?? []).joined(separator: ", ")) {
            typealias __Target = \(face).__Target
            typealias __SendableTarget = \(face).__SendableTarget
            typealias __Values = \(face).__Values
            typealias __Messages = \(face).__Messages
            \(isActor ? "nonisolated " : "")let __forwarder: \(forwarding)FaceForwarder
            init(forwardingTo proxy: any \(forwarding)ForwardingProxy & \(swift)Sendable) {
              __forwarder = \(forwarding)FaceForwarder(proxy, for: \(face).self)
            }
            static func __target(_ target: __SendableTarget) -> __Target { target }
            static func __prepare(_ target: __Target) -> \(swift)AnyObject { target as \(swift)AnyObject }
          }
        }
        """
      return DeclSyntax(stringLiteral: source).as(ExtensionDeclSyntax.self).map { [$0] } ?? []
    }
  }
#endif
