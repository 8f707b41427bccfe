// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

/// The catalog with the tutorials, whose steps are programs.
enum Tutorials {
  static let catalog = "Sources/Forwarding/Forwarding.docc"
  static let steps: [String] = files("Resources", ".swift")

  static func files(_ folder: String, _ kind: String) -> [String] {
    let path = SnippetTests.root.appendingPathComponent("\(catalog)/\(folder)").path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.filter { $0.hasSuffix(kind) }.sorted()
  }
}

@Suite("The tutorials")
struct TutorialTests {
  private static func text(_ path: String) throws -> String {
    try String(
      contentsOf: SnippetTests.root.appendingPathComponent("\(Tutorials.catalog)/\(path)"),
      encoding: .utf8)
  }

  @Test("each program is a step of one tutorial, and each step has its program")
  func steps() throws {
    let texts = try Tutorials.files("Tutorials", ".tutorial").map {
      try Self.text("Tutorials/\($0)")
    }
    let named = texts.joined().matches(of: /file: "([^"]+)"/).map { String($0.1) }
    #expect(named.sorted() == Tutorials.steps)
  }

  #if Macros
    @Test(
      "each step compiles without a warning, and prints what its comments say",
      arguments: Tutorials.steps)
    func program(_ step: String) throws {
      let swiftc = try #require(Toolchain.path(of: "swiftc"))
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("forwarding-tutorial-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let source = SnippetTests.root.appendingPathComponent(
        "\(Tutorials.catalog)/Resources/\(step)")
      let program = folder.appendingPathComponent("main").path
      let compiled = try run(
        swiftc,
        [
          "-swift-version", "6", "-strict-memory-safety", "-warnings-as-errors",
          "-enable-upcoming-feature", "NonisolatedNonsendingByDefault", "-module-name", "Step",
          source.path, "-o", program,
        ] + Toolchain.moduleOptions + Toolchain.macroOptions
          + Toolchain.linkOptions(
            for: ["TypeEncodings", "Invocations", "Forwarding", "CForwardingShims"]))
      try #require(compiled.status == 0, "\(compiled.errors)")
      let finished = try run(program, [])
      #expect(finished.status == 0)
      let lines = try String(contentsOf: source, encoding: .utf8).split(separator: "\n")
      let claims = lines.filter { !$0.hasPrefix("//") }.compactMap { line in
        line.firstMatch(of: /\S  ?\/\/ (.*)$/).map { String($0.1) }
      }
      let printed = finished.output.split(separator: "\n")
      #expect(printed.count == claims.count, "\(finished.output)")
      for (line, claim) in zip(printed, claims) {
        #expect(claim == line || claim.hasPrefix(line + ": "))
      }
    }
  #endif
}
