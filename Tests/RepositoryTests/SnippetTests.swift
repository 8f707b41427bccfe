// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

/// Each snippet is a program, and prints the values in its comments.
@Suite("Snippets, and pages with programs")
struct SnippetTests {
  /// The outputs, below lines with `==` and the name of the program. A program whose name ends with
  /// `Proxy`, and the spy of a protocol, have `@Forwardable`: they print nothing without the trait.
  static let outputs: [(name: String, output: String)] = {
    let text = try! Repository.text("Tests/Data/snippets.txt")
    return text.components(separatedBy: "== ").dropFirst().map { part in
      let name = part.prefix { $0 != "\n" }
      return (String(name), String(part.dropFirst(name.count + 1)))
    }
  }()

  /// Whether a program can run here: SQLite is loaded at run time, and is no dependency of the
  /// package.
  static func isRunnable(_ name: String) -> Bool {
    guard name.hasPrefix("Database"), dlopen("libsqlite3.so.0", RTLD_LAZY) == nil else {
      return true
    }
    print("\(name) is left out: there is no libsqlite3.so.0 (apt-get install libsqlite3-0)")
    return false
  }

  #if Macros
    @Test("a process calls an object of another one, and prints the values in its comments")
    func twoProcesses() throws {
      let path = "\(FileManager.default.temporaryDirectory.path)/\(UInt64.random(in: 0 ... .max))"
      let host = Process()
      host.executableURL = try Repository.program("TwoProcesses")
      host.arguments = ["host", path]
      let output = Pipe()
      host.standardOutput = output
      try host.run()
      defer {
        host.terminate()
        host.waitUntilExit()
        try? FileManager.default.removeItem(atPath: path)
      }
      // The host prints a line as soon as others can call it.
      #expect(!output.fileHandleForReading.availableData.isEmpty)
      let caller = try Repository.run("TwoProcesses", ["call", path])
      #expect(caller.errors == "")
      let error = "the target threw the error 7: there is no forecast for someday"
      #expect(caller.output == "21.5\nrain\n\(error)\n")
    }

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
  #endif

  @Test("each snippet has an output; one is run as two processes")
  func complete() throws {
    let files = try FileManager.default.contentsOfDirectory(
      atPath: Repository.file("Snippets").path)
    let names = files.filter { $0.hasSuffix(".swift") }.map { String($0.dropLast(6)) }
    #expect(Set(Self.outputs.map(\.name)) == Set(names).subtracting(["TwoProcesses"]))
  }

  @Test(
    "a snippet prints the values in its comments",
    arguments: outputs.filter { isRunnable($0.name) })
  func output(name: String, expected: String) throws {
    let result = try Repository.run(name)
    #expect(result.status == 0 && result.errors.isEmpty)
    #if Macros
      #expect(result.output == expected)
    #else
      let needsMacros = name.hasSuffix("Proxy") || name == "SpyOfProtocol"
      #expect(result.output == (needsMacros ? "" : expected))
    #endif
  }

  @Test("the quick start of the README is the snippet, line by line")
  func readme() throws {
    let readme = try Repository.lines("README.md")
    let start = try #require(readme.firstIndex(of: "<!-- quick start -->")) + 1
    let end = try #require(readme[start...].firstIndex(of: "```"))
    var snippet = try Repository.lines("Snippets/QuickStart.swift")[...]
    for line in readme[(start + 1)..<end] where !line.isEmpty {
      guard let found = snippet.firstIndex(of: line) else {
        Issue.record("not in the snippet, or not in this order: \(line)")
        return
      }
      snippet = snippet[(found + 1)...]
    }
  }
}
