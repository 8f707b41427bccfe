// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Foundation
  import ForwardingTestSupport
  import Testing

  @Suite("Pages with a package")
  struct PageTests {
    private static let page = "Documentation/Delegates.md"

    /// The output that the page shows below its marker, without the command.
    private static func shownOutput() throws -> String {
      let lines = try ExampleSources.lines(page)
      let mark = try #require(lines.firstIndex(of: "<!-- output -->"))
      let shown = lines[(mark + 3)...].prefix { $0 != "```" }
      #expect(lines[mark + 2] == "$ swift run")
      return shown.joined(separator: "\n") + "\n"
    }

    @Test("the program of the page on delegates compiles, and prints the output on the page")
    func program() throws {
      let swiftc = try #require(Toolchain.path(of: "swiftc"))
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("forwarding-page-\(UUID().uuidString)")
      try Self.write(to: folder)
      defer { try? FileManager.default.removeItem(at: folder) }
      let sources = try ExampleSources.package(of: Self.page).keys
        .filter { $0.hasPrefix("Sources/") }.sorted()
      let program = folder.appendingPathComponent("chat").path
      let compiled = try run(
        swiftc,
        ["-swift-version", "6", "-module-name", "chat", "-o", program]
          + sources.map { folder.appendingPathComponent($0).path } + Toolchain.moduleOptions
          + Toolchain.macroOptions
          + Toolchain.linkOptions(
            for: ["TypeEncodings", "Invocations", "Forwarding", "CForwardingShims"]))
      try #require(compiled.status == 0, "\(compiled.errors)")
      let finished = try run(program, [])
      #expect(finished.status == 0)
      #expect(finished.errors == "")
      #expect(try finished.output == Self.shownOutput())
    }

    @Test("the page on tests begins with a file of this package's tests")
    func testsPage() throws {
      let files = try ExampleSources.package(of: "Documentation/Testing.md")
      try #require(files.count == 1)
      for (path, example) in files {
        // The file has contents only with the trait, and begins with its licence.
        let lines = try ExampleSources.lines(path).filter {
          !$0.hasPrefix("#") && !$0.hasPrefix("//")
        }
        .map { $0.hasPrefix("  ") ? String($0.dropFirst(2)) : $0 }
        let text = lines.joined(separator: "\n").trimmingCharacters(in: .newlines)
        #expect(example.code.joined(separator: "\n") == text)
      }
    }

    /// Writes the files of the page's package.
    private static func write(to folder: URL) throws {
      for (path, example) in try ExampleSources.package(of: page) {
        let file = folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(
          at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let text = example.code.joined(separator: "\n") + "\n"
        try text.write(to: file, atomically: true, encoding: .utf8)
      }
    }
  }
#endif
