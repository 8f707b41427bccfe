// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

/// Each snippet is a program, and prints the values in its comments.
@Suite("Snippets and the README")
struct SnippetTests {
  static let outputs: [(String, String)] = [
    (
      "QuickStart",
      """
      1024.0
      42
      [100, 100]
      argument 2 is Int32 (i), not Double (d)

      """
    ),
    (
      "DelegateAndDataSource",
      "list: row 3\ndetail: row 3\n1\ntrue\ntrue\nfalse\n0\n0\n42\n"
    ),
    ("RedDotManager", "2\ninbox: mail 3\nprofile: mail 3\ninbox: mail 0\n1\n"),
    (
      "ScrollView",
      "controller sees offset 20.0\nheader is 100.0 high\n"
        + "controller sees offset -35.0\nheader is 135.0 high\n"
    ),
    (
      "Philosopher",
      "the cook does the eating\nthe philosopher has nobody to work\n"
        + "the bed does the sleeping\n"
    ),
    (
      "DatabaseObservers",
      "cache: inserted row 1 of notes\nview: inserted row 1 of notes\n"
        + "cache: updated row 1 of notes\ncache: deleted row 1 of notes\n"
    ),
    (
      // It undoes the changes of its script, and needs a terminal to be interactive.
      "TextEditorUndo",
      """
      typed: hello world| (Undo Typing, Redo, modified)
      typed: hello, big| world (Undo Typing, Redo, modified)
      replaced: heLLo, big worL|d (Undo Replace All, Redo, modified)
      undone: hel|lo, big world (Undo Typing, Redo Replace All, modified)
      undone: hello| world (Undo Typing, Redo Typing)
      redone: hello, big| world (Undo Typing, Redo Replace All, modified)
      deleted: hello, bi| world (Undo Delete, Redo, modified)
        Delete: Editor insert:at: "g" 9
      all undone: | (Undo, Redo Typing, modified)

      """
    ),
  ]

  /// The same programs with `@Forwardable`, which print nothing without the trait.
  static let proxyOutputs: [(String, String)] = [
    (
      "DelegateAndDataSourceProxy",
      "list: row 3\ndetail: row 3\ndetail scrolled\ndetail scrolled\n[false, true]\n0\n0\n42\n"
    ),
    ("RedDotManagerProxy", outputs[2].1), ("ScrollViewProxy", outputs[3].1),
    ("PhilosopherProxy", outputs[4].1),
    (
      "DatabaseObserversProxy",
      "true\nguardian: inserted row 1 of notes\ncache: inserted row 1 of notes\ntrue\nfalse\n"
        + "guardian: inserted row 2 of notes\ncache: inserted row 2 of notes\nfalse\n"
        + "cache: updated row 1 of notes\ntrue\ncache: deleted row 1 of notes\ntrue\n"
    ),
    (
      "SpyOfProtocol",
      """
      [50, 100]
      2
      true
      line 43: expected 1 call of 'download:didReach:'("small", 75), received none
        download:didReach:("small", 50)
        download:didReach:("small", 100)
        download:mayUse:("small", 10)
        downloadDidEnd:("small")
        download:mayUse:("large", 100000)

      """
    ),
  ]

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
      let path = "/tmp/forward-\(UInt64.random(in: 0 ... .max))"
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
  #endif

  @Test(
    "a snippet prints the values in its comments",
    arguments: (outputs + proxyOutputs).filter { isRunnable($0.0) })
  func output(name: String, expected: String) throws {
    let result = try Repository.run(name)
    #expect(result.status == 0 && result.errors.isEmpty)
    #if Macros
      #expect(result.output == expected)
    #else
      #expect(result.output == (Self.outputs.contains { $0.0 == name } ? expected : ""))
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
