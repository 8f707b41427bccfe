// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The catalog with the tutorials, whose steps are programs.
@Suite("The tutorials")
struct TutorialTests {
  private static let catalog = "Sources/Forwarding/Forwarding.docc"
  static let steps = files("Resources", ".swift")

  private static func files(_ folder: String, _ kind: String) -> [String] {
    let path = Repository.file("\(catalog)/\(folder)").path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.filter { $0.hasSuffix(kind) }.sorted()
  }

  @Test("each program is a step of one tutorial, and each step has its program")
  func named() throws {
    let texts = try Self.files("Tutorials", ".tutorial").map {
      try Repository.text("\(Self.catalog)/Tutorials/\($0)")
    }
    let named = texts.joined().matches(of: /file: "([^"]+)"/).map { String($0.1) }
    #expect(named.sorted() == Self.steps)
  }

  #if Macros
    @Test(
      "each step compiles without a warning, and prints what its comments say", arguments: steps)
    func program(_ step: String) throws {
      let text = try Repository.text("\(Self.catalog)/Resources/\(step)")
      let output = try Repository.output(
        of: ["main.swift": text],
        options: [
          "-strict-memory-safety", "-warnings-as-errors", "-enable-upcoming-feature",
          "NonisolatedNonsendingByDefault",
        ])
      let claims = text.split(separator: "\n").filter { !$0.hasPrefix("//") }.compactMap { line in
        line.firstMatch(of: /\S  ?\/\/ (.*)$/).map { String($0.1) }
      }
      let printed = output.split(separator: "\n")
      #expect(printed.count == claims.count, "\(output)")
      for (line, claim) in zip(printed, claims) {
        #expect(claim == line || claim.hasPrefix(line + ": "))
      }
    }
  #endif
}
