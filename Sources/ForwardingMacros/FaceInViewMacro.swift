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
      let parameters = declaration.as(ClassDeclSyntax.self)?.genericParameterClause?.parameters
      let arguments = parameters.map { "<\($0.map(\.name.text).joined(separator: ", "))>" } ?? ""
      let name = type.trimmedDescription
      // The extension sees neither a nested protocol nor the types beside it.
      let face = name + arguments
      let place = name.split(separator: ".").dropLast().map { $0 + "." }.joined()
      let kept = declaration.attributes.compactMap { $0.as(AttributeSyntax.self) }.filter {
        !$0.attributeName.trimmedDescription.hasSuffix("FaceInView")
      }
      let actor = place.isEmpty ? nil : kept.first(where: \.namesGlobalActor)?.trimmedDescription
      let seen = { (text: String) in
        actor.map { text.replacing($0 + " ", with: "@\(face).__Actor ") } ?? text
      }
      let inherited = declaration.inheritanceClause?.inheritedTypes.enumerated().map {
        let text = $0.element.type.trimmedDescription
        // The class is never used. Its conformance belongs to no actor, as a protocol that inherits
        // `Sendable` takes no members of an extension for a conformance that does.
        if $0.offset > 0, text.hasSuffix("ForwardingFace"), !isActor {
          return "nonisolated \(Spelling.forwarding)ForwardingFace"
        }
        return ($0.offset == 0 ? place : "") + seen(text)
      }
      let attributes = seen(kept.map { $0.trimmedDescription + " " }.joined())
      // Nor does the default isolation of the module matter to it.
      let isolation =
        isActor || kept.contains(where: \.namesGlobalActor) ? "" : "nonisolated "
      let (forwarding, swift) = (Spelling.forwarding, Spelling.swift)
      let source = """
        extension \(name) {
          \(attributes)\(isolation)fileprivate \(isActor ? "actor" : "final class") __InView: \((inherited ?? []).joined(separator: ", ")) {
            typealias __Target = \(face).__Target
            typealias __SendableTarget = \(face).__SendableTarget
            typealias __Values = \(face).__Values
            typealias __Messages = \(face).__Messages
            nonisolated let __forwarder: \(forwarding)FaceForwarder
            \(isActor ? "" : "nonisolated ")init(forwardingTo proxy: any \(forwarding)ForwardingProxy & \(swift)Sendable) {
              __forwarder = \(forwarding)FaceForwarder(proxy, for: \(face).self)
            }
            nonisolated static func __target(_ target: __SendableTarget) -> __Target { target }
            nonisolated static func __prepare(_ target: __Target) -> \(swift)AnyObject { target as \(swift)AnyObject }
          }
        }
        """
      return DeclSyntax(stringLiteral: source).as(ExtensionDeclSyntax.self).map { [$0] } ?? []
    }
  }
#endif
