// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Invocations
import Testing

/// Compiles the code in documentation comments and in Markdown with strict memory safety, as a
/// client does, and runs it. The values in its comments must be the results.
@Suite("Examples in the documentation")
struct DocumentationExampleTests {
  @Test("every public type has an example")
  func everyType() throws {
    for type in try ExampleSources.publicTypes() where !type.hasExample && !type.isHidden {
      Issue.record("\(type.name) has no example")
    }
  }

  @Test("examples compile, run, and give the values in their comments")
  func examples() throws {
    var program = ExampleProgram(
      preamble: try Repository.lines("Tests/Data/Examples/Preamble.swift.txt"),
      harness: try Repository.lines("Tests/Data/Examples/Harness.swift.txt"))
    #if Macros
      let files = try ExampleSources.package(of: "Documentation/Delegates.md")
      program.share(
        files.filter { $0.key.hasPrefix("Sources/") }.sorted { $0.key < $1.key }.map(\.value),
        fixtures: try Repository.lines("Tests/Data/Examples/Proxies.swift.txt"))
    #endif
    for example in try ExampleSources.inComments() + ExampleSources.inMarkdown() {
      let missing = Self.missingLibraries(of: example)
      if missing.isEmpty {
        program.add(example)
      } else {
        print("\(example.file):\(example.line) is skipped: the emulated system has no \(missing)")
      }
    }
    for comment in program.unreadable { Issue.record("nobody can check \(comment)") }
    let output = try Self.output(of: program.text)
    for claim in Self.broken(program.claims, output) { Issue.record("\(claim)") }
  }

  @Test("a comment with a wrong value is found")
  func wrongComment() throws {
    var program = ExampleProgram(
      preamble: [], harness: try Repository.lines("Tests/Data/Examples/Harness.swift.txt"))
    let code = [
      "Selector(existing: \"never heard of\")  // 5", "try Selector(interning: \"\\0\")  // fine",
      "let one: Selector = \"one\"  // prose", "one.name  // one: its name", "print(one)  // two",
      "if one.name.isEmpty {", "  one.name  // one", "}", "try unsafe Library(\"nowhere.so\")",
    ]
    program.add(Example(file: "test", line: 1, code: code))
    let broken = Self.broken(program.claims, try Self.output(of: program.text))
    #expect(
      broken == [
        "test:1 says 5, and gives nil",
        "test:2 says fine, and gives throws: '\u{0}' cannot be the name of a selector: it contains a NUL, or is longer than 1024 bytes",
        "test:5 says two, and gives one", "test:7 was not reached",
        "test:1 throws 'nowhere.so' could not be opened",
      ])
  }

  /// The libraries that an example opens, and that the system of an emulator does not have.
  private static func missingLibraries(of example: Example) -> [String] {
    if TestMachine.emulator == nil { return [] }
    return example.code.flatMap { $0.matches(of: /Library\("([^"]+)"\)/) }.map { String($0.1) }
      .filter { (try? Library($0)) == nil }
  }

  /// The claims of comments that the output of the program contradicts.
  private static func broken(_ claims: [ExampleProgram.Claim], _ output: String) -> [String] {
    var broken: [String] = []
    var given: [Int: [[String]]] = [:]
    let lines = output.split(separator: "\n").map { $0.components(separatedBy: "\t") }
    for words in lines where words[0] == "found" {
      given[Int(words[1]) ?? -1, default: []].append(Array(words.dropFirst(2)))
    }
    for (number, claim) in claims.enumerated() {
      guard let found = given[number] else {
        broken.append("\(claim.place) was not reached")
        continue
      }
      for texts in found
      where !texts.contains(where: claim.says) {
        broken.append("\(claim.place) says \(claim.text), and gives \(texts[0])")
      }
    }
    for words in lines where words[0] == "failed" {
      let error = words[2].components(separatedBy: ": ")[0]
      broken.append("\(words[1]) throws \(error)")
    }
    if lines.last?[0] != "finished" { broken.append("the program did not come to its end") }
    return broken
  }

  /// Compiles and runs a program.
  private static func output(of text: String) throws -> String {
    try Repository.output(
      of: ["main.swift": text],
      options: [
        "-strict-memory-safety", "-Werror", "StrictMemorySafety",
        // The compiler takes most of its time to verify its own work in a file this long.
        "-Xfrontend", "-sil-verify-none",
      ], linking: ExampleSources.modules + ["CJournalShims", "CSocketShims"])
  }
}
