// SPDX-License-Identifier: Apache-2.0
// The compiler plugin that expands the macros.
#if canImport(SwiftCompilerPlugin)
  import SwiftCompilerPlugin
  import SwiftSyntaxMacros

  @main
  struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
      ForwardableMacro.self, FaceInViewMacro.self, MarkerMacro.self, DelegatesMacro.self,
    ]
  }
#elseif canImport(SwiftSyntaxMacros)
  @_spi(PluginMessage) import SwiftCompilerPluginMessageHandling
  import SwiftSyntaxMacros

  @main
  struct Plugin: PluginProvider {
    func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
      switch typeName {
      case "ForwardableMacro": return ForwardableMacro.self
      case "FaceInViewMacro": return FaceInViewMacro.self
      case "MarkerMacro": return MarkerMacro.self
      case "DelegatesMacro": return DelegatesMacro.self
      default: throw Unknown(macro: typeName)
      }
    }

    struct Unknown: Error { let macro: String }

    static func main() throws {
      try CompilerPluginMessageListener(
        connection: StandardIOMessageConnection(), provider: Plugin()
      ).main()
    }
  }
#elseif Macros
  #error("the toolchain's SwiftSyntax was not found; use the trait 'MacrosFromSource'")
#else
  @main
  enum Plugin {
    static func main() {}
  }
#endif
