// SPDX-License-Identifier: Apache-2.0
#if Macros
  import ForwardingTestSupport
  import Foundation

  /// A program whose types have the names of this package's types, of the standard library's types,
  /// and of a proxy's members without their underscores.
  enum TakenNames {
    private static let others = [
      "Forwarding", "Invocations", "TypeEncodings", "Void", "Int", "Bool", "AnyClass", "AnyObject",
      "KeyPath", "Error", "Sendable", "Target", "SendableTarget", "Values", "Messages", "InView",
      "Object", "Box", "Proxy", "Untyped",
    ]

    /// The names that attributes in the program use.
    private static let used: Set = ["Forwardable", "Otherwise", "Optional"]

    /// The public types of the modules that proxies use.
    static func publicTypes() throws -> [String] {
      let folder = Toolchain.package.appendingPathComponent("Tests/Data/PublicAPI")
      return try ["Forwarding", "Invocations", "TypeEncodings"].flatMap { module in
        let file = folder.appendingPathComponent("\(module).txt")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap {
          $0.wholeMatch(of: /\s*(?:class|struct|enum|protocol|actor|typealias) (\w+)(?:[ :].*)?/)
            .map { String($0.1) }
        }
      }
    }

    static func source() throws -> String {
      let names = Set(try publicTypes() + others).subtracting(used).sorted()
      let types = names.map { "public struct \($0) {}" }.joined(separator: "\n")
      let requirements = names.map {
        "  func take(_ value: \($0), then other: inout \($0)) -> \($0)?"
      }.joined(separator: "\n")
      return """
        import Forwarding

        \(types)
        public struct Failure: Swift.Error {}

        @Forwardable
        public protocol Taking: Swift::Sendable {
        \(requirements)
          func ask(_ value: Target) async throws -> Values
          func ask(
            _ forwarder: Swift::Int, target: Target, self: Object, proxy: Messages, in: Swift::Int,
            methods: Object, call: Box, object: Object, value0: Requirement) throws(Failure)
          func work<T>(_ value: T, with other: () -> Target)
          @Otherwise(Target()) var target: Target { get }
          var forwarder: Swift::Int? { get set }
          var untyped: Untyped? { get set }
          var proxy: Proxy? { get }
          @Optional func messages(_ values: Values)
          subscript(object: Object) -> Swift::Int? { get set }
        }

        func all(_ one: TakingProxy) {}

        // Where a type is named 'Sendable', the compiler does not find the conformance that a macro adds.
        @CLibrary("libm.so.6")
        public struct Math: Swift::Sendable {
          let cos: @convention(c) (Swift::Double) -> Swift::Double
          @Optional let library: (@convention(c) (Swift::Double) -> Swift::Double)?
        }
        """
    }
  }
#endif
