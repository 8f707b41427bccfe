// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Foundation
  import ForwardingTestSupport
  import Testing

  /// How a program isolates its declarations.
  enum ProgramIsolation: CaseIterable {
    case none, mainActor, approachable

    var options: [String] {
      switch self {
      case .none: []
      case .mainActor: ["-default-isolation", "MainActor"]
      case .approachable:
        [
          "-default-isolation", "MainActor", "-enable-upcoming-feature",
          "InferIsolatedConformances", "-enable-upcoming-feature",
          "NonisolatedNonsendingByDefault",
        ]
      }
    }
  }

  @Suite("Programs around '@Forwardable'")
  struct ProxyCompilesTests {
    @Test("rare requirements compile without a warning", arguments: ProgramIsolation.allCases)
    func rare(_ isolation: ProgramIsolation) throws {
      let swiftc = try #require(Toolchain.path(of: "swiftc"))
      let source = FileManager.default.temporaryDirectory
        .appendingPathComponent("forwarding-\(UUID().uuidString).swift")
      try FileManager.default.copyItem(
        at: Toolchain.package.appendingPathComponent("Tests/Data/Proxies/Rare.swift.txt"),
        to: source)
      defer { try? FileManager.default.removeItem(at: source) }
      // The checks of `sending` need more than types.
      let finished = try run(
        swiftc,
        [
          "-emit-sil", "-o", "/dev/null", "-parse-as-library", "-swift-version", "6",
          "-warnings-as-errors", "-package-name", "rare", "-diagnostic-style=llvm", source.path,
        ] + isolation.options + Toolchain.moduleOptions + Toolchain.macroOptions)
      #expect(finished.status == 0, "\(finished.errors)")
    }
  }
#endif
