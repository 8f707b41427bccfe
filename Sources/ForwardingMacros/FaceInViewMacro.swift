#if canImport(SwiftSyntaxMacros)
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// `@FaceInView`, on a face that `@Forwardable` writes: a second class of the protocol, inside of an extension.
  ///
  /// The optimizer of a whole module looks for protocols with one class alone, and calls that class's methods
  /// whatever object it has. It does not see a class that a macro writes beside a declaration, as a face is, and
  /// so would take the face for an object of the other class. What is in an extension it does see.
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
        $0.attributeName.trimmedDescription != "FaceInView"
      }.map { $0.trimmedDescription + " " }.joined()
      // What the isolation of a module is by default is no matter to a class that nobody uses.
      let isolation =
        isActor || inherited?.contains { $0.hasPrefix("@") } == true ? "" : "nonisolated "
      let source = """
        extension \(face) {
          \(attributes)\(isolation)fileprivate \(isActor ? "actor" : "final class") InView: \((inherited ?? []).joined(separator: ", ")) {
            typealias Target = \(face).Target
            typealias SendableTarget = \(face).SendableTarget
            typealias Values = \(face).Values
            typealias Messages = \(face).Messages
            \(isActor ? "nonisolated " : "")let __forwarder: Forwarding.FaceForwarder
            init(forwardingTo proxy: any Forwarding.ForwardingProxy & Sendable) {
              __forwarder = Forwarding.FaceForwarder(proxy, for: \(face).self)
            }
            static func target(_ target: SendableTarget) -> Target { target }
            static func object(of target: Target) -> AnyObject { target }
            static func prepare(_ target: Target) {}
          }
        }
        """
      return DeclSyntax(stringLiteral: source).as(ExtensionDeclSyntax.self).map { [$0] } ?? []
    }
  }
#endif
