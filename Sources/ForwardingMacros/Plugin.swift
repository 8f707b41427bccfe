// SPDX-License-Identifier: Apache-2.0
#if !canImport(SwiftSyntaxMacros)
  #error("the toolchain's SwiftSyntax was not found; use the trait 'MacrosFromSource'")
#endif
@_spi(PluginMessage) import SwiftCompilerPluginMessageHandling
import SwiftSyntaxMacros

/// The compiler plugin that expands the macros.
@main
struct Plugin: PluginProvider {
  func resolveMacro(moduleName: String, typeName: String) throws -> any Macro.Type {
    let macros: [any Macro.Type] = [
      ForwardableMacro.self, ProxyInViewMacro.self, MarkerMacro.self, DelegatesMacro.self,
      CLibraryMacro.self,
    ]
    if let type = macros.first(where: { "\($0)" == typeName }) { return type }
    throw MacroExpansionErrorMessage("'\(typeName)' is no macro of this package")
  }

  static func main() throws {
    try CompilerPluginMessageListener(connection: StandardIOMessageConnection(), provider: Plugin())
      .main()
  }
}
