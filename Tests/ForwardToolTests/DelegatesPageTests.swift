// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Foundation
  import ForwardingTestSupport
  import Testing

  @Suite("The page on delegates")
  struct DelegatesPageTests {
    static let page = "Documentation/Delegates.md"

    /// Whether this is a debug build without a sanitizer. The test builds the package of the page
    /// from scratch, which takes a minute, and once is enough.
    static var isPlainDebug: Bool {
      #if DEBUG
        return ["__asan_init", "__tsan_init"].allSatisfy { (name: String) in dlsym(nil, name) == nil
        }
      #else
        return false
      #endif
    }

    /// The output that the page shows below its marker, without the command.
    static func shownOutput() throws -> String {
      let lines = try ExampleSources.lines(page)
      let mark = try #require(lines.firstIndex(of: "<!-- output -->"))
      let shown = lines[(mark + 3)...].prefix { $0 != "```" }
      #expect(lines[mark + 2] == "$ swift run")
      return shown.joined(separator: "\n") + "\n"
    }

    @Test("the package of the page builds in an empty folder, and prints the output on the page")
    func package() throws {
      // A sanitizer or release build would build all modules once more for the same output.
      guard Self.isPlainDebug else { return }
      let swift = try #require(Toolchain.path(of: "swift"))
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("forwarding-page-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let chat = folder.appendingPathComponent("chat")
      let files = try ExampleSources.package(of: Self.page)
      #expect(files.keys.contains("Package.swift"))
      for (path, example) in files {
        let file = chat.appendingPathComponent(path)
        try FileManager.default.createDirectory(
          at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let text = example.code.joined(separator: "\n") + "\n"
        try text.write(to: file, atomically: true, encoding: .utf8)
      }
      // The page assumes a clone of this repository beside the new folder.
      try FileManager.default.createSymbolicLink(
        at: folder.appendingPathComponent("swift-forwarding"),
        withDestinationURL: Toolchain.package)
      let built = try run(swift, ["build", "--package-path", chat.path])
      try #require(built.status == 0, "\(built.output)\(built.errors)")
      let finished = try run(chat.appendingPathComponent(".build/debug/chat").path, [])
      #expect(finished.status == 0)
      #expect(finished.errors == "")
      #expect(try finished.output == Self.shownOutput())
    }
  }
#endif
