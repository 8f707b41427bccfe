// SPDX-License-Identifier: Apache-2.0
// The compiler plugin that expands the macros.
#if canImport(SwiftSyntaxMacros)
  import SwiftSyntaxMacros

  private var macros: [any Macro.Type] {
    [ForwardableMacro.self, ProxyInViewMacro.self, MarkerMacro.self, DelegatesMacro.self]
  }
#endif

#if canImport(SwiftCompilerPlugin)
  import SwiftCompilerPlugin

  @main
  struct Plugin: CompilerPlugin {
    let providingMacros = macros
  }
#elseif canImport(SwiftSyntaxMacros)
  @_spi(PluginMessage) import SwiftCompilerPluginMessageHandling

  @main
  struct Plugin: PluginProvider {
    func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
      if let type = macros.first(where: { "\($0)" == typeName }) { return type }
      throw Unknown(macro: typeName)
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
