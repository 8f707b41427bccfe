// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Foundation
  import Testing

  @Suite("Pages with a package")
  struct PageTests {
    @Test("the program of the page on delegates compiles, and prints the output on the page")
    func program() throws {
      let page = "Documentation/Delegates.md"
      let sources = try ExampleSources.package(of: page).filter { $0.key.hasPrefix("Sources/") }
      let files = sources.map { path, example in
        (String(path.split(separator: "/").last!), example.code.joined(separator: "\n") + "\n")
      }
      // The output is below its marker and the command.
      let lines = try Repository.lines(page)
      let mark = try #require(lines.firstIndex(of: "<!-- output -->"))
      #expect(lines[mark + 2] == "$ swift run")
      let shown = lines[(mark + 3)...].prefix { $0 != "```" }.joined(separator: "\n") + "\n"
      #expect(try Repository.output(of: Dictionary(uniqueKeysWithValues: files)) == shown)
    }

    @Test("the page on tests begins with a file of this package's tests")
    func testsPage() throws {
      let files = try ExampleSources.package(of: "Documentation/Testing.md")
      try #require(files.count == 1)
      for (path, example) in files {
        // The file has contents only with the trait, and begins with its licence.
        let lines = try Repository.lines(path).filter { !$0.hasPrefix("#") && !$0.hasPrefix("//") }
          .map { $0.hasPrefix("  ") ? String($0.dropFirst(2)) : $0 }
        let text = lines.joined(separator: "\n").trimmingCharacters(in: .newlines)
        #expect(example.code.joined(separator: "\n") == text)
      }
    }
  }
#endif
