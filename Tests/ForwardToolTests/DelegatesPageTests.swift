// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Foundation
  import ForwardingTestSupport
  import Testing

  @Suite("The page on delegates")
  struct DelegatesPageTests {
    static let page = "Documentation/Delegates.md"

    /// Whether the package of the page is built from scratch, which takes two minutes of processor time.
    static var buildsPackage: Bool {
      ProcessInfo.processInfo.environment["FORWARDING_PAGE_PACKAGE"] != nil
    }

    /// The output that the page shows below its marker, without the command.
    static func shownOutput() throws -> String {
      let lines = try ExampleSources.lines(page)
      let mark = try #require(lines.firstIndex(of: "<!-- output -->"))
      let shown = lines[(mark + 3)...].prefix { $0 != "```" }
      #expect(lines[mark + 2] == "$ swift run")
      return shown.joined(separator: "\n") + "\n"
    }

    @Test("the program of the page compiles, and prints the output on the page")
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
      try Self.expectOutput(of: program)
    }

    @Test(
      "the package of the page builds in an empty folder, and prints the output on the page",
      .enabled(
        if: buildsPackage,
        "it builds the package once more; `make check` sets FORWARDING_PAGE_PACKAGE"))
    func package() throws {
      let swift = try #require(Toolchain.path(of: "swift"))
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("forwarding-page-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let chat = folder.appendingPathComponent("chat")
      try Self.write(to: chat)
      #expect(
        FileManager.default.fileExists(atPath: chat.appendingPathComponent("Package.swift").path))
      // The page assumes a clone of this repository beside the new folder.
      try FileManager.default.createSymbolicLink(
        at: folder.appendingPathComponent("swift-forwarding"),
        withDestinationURL: Toolchain.package)
      let built = try run(swift, ["build", "--package-path", chat.path])
      try #require(built.status == 0, "\(built.output)\(built.errors)")
      try Self.expectOutput(of: chat.appendingPathComponent(".build/debug/chat").path)
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

    private static func expectOutput(of program: String) throws {
      let finished = try run(program, [])
      #expect(finished.status == 0)
      #expect(finished.errors == "")
      #expect(try finished.output == shownOutput())
    }
  }
#endif
