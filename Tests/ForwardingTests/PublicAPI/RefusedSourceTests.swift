import Foundation
import ForwardingTestSupport
import Testing

/// Sources that a client in a target with strict memory safety must not be able to compile.
///
/// Each file of `Tests/Data/Refused` says in a comment at the end of a line what the compiler says of
/// that line: `//~ the message`. `RECORD_GOLDENS=1` writes the comments anew.
@Suite("Sources that do not compile")
struct RefusedSourceTests {
  private struct Message: Hashable, Comparable {
    var file: String
    var line: Int
    var text: String

    static func < (one: Message, other: Message) -> Bool {
      (one.file, one.line, one.text) < (other.file, other.line, other.text)
    }
  }

  private static let mark = "  //~ "

  @Test("the compiler refuses what the rule refuses, and says what to do")
  func refused() throws {
    let folder = Toolchain.package.appendingPathComponent("Tests/Data/Refused")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    let sources = try names.map {
      ($0, try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8))
    }
    // Each for itself: an error in one would hide what is found later in another.
    let said = try sources.reduce(into: Set<Message>()) { all, source in
      all.formUnion(try compile(source.0, source.1))
    }
    if Toolchain.records {
      for (name, source) in sources {
        let text = annotate(source, said.filter { $0.file == name })
        try text.write(
          to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
      }
      return
    }
    let expected = Set(sources.flatMap { name, source in expectations(name, source) })
    try #require(!expected.isEmpty)
    for missing in expected.subtracting(said).sorted() {
      Issue.record(
        "\(missing.file):\(missing.line) compiles, or says something else: \(missing.text)")
    }
    for new in said.subtracting(expected).sorted() {
      Issue.record("\(new.file):\(new.line) says: \(new.text)")
    }
  }

  /// What the compiler says of a source.
  private func compile(_ name: String, _ source: String) throws -> Set<Message> {
    let swiftc = try #require(Toolchain.path(of: "swiftc"))
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("forwarding-refused-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent(name.replacing(".txt", with: ""))
    try source.write(to: file, atomically: true, encoding: .utf8)
    let finished = try run(
      swiftc,
      [
        "-emit-sil", "-parse-as-library", "-swift-version", "6", "-strict-memory-safety",
        "-warnings-as-errors",
        "-enable-upcoming-feature", "MemberImportVisibility", "-module-name", "Client",
        "-diagnostic-style=llvm", "-o", "/dev/null", file.path,
      ] + Toolchain.moduleOptions)
    #expect(!finished.errors.contains("submit a bug report"), "\(name) crashes the compiler")
    let messages = Set(finished.errors.split(separator: "\n").compactMap { message(String($0)) })
    #expect(!messages.isEmpty, "\(name) compiles")
    return messages
  }

  /// The message of a line such as `/folder/name.swift:3:14: error: text`.
  private func message(_ line: String) -> Message? {
    guard let match = line.wholeMatch(of: /.*\/([^\/]+\.swift):(\d+):\d+: error: (.*)/) else {
      return nil
    }
    return Message(
      file: "\(match.1).txt", line: Int(match.2) ?? 0,
      text: String(match.3).replacing(/\s\[#.*\]/, with: ""))
  }

  private func expectations(_ name: String, _ source: String) -> [Message] {
    source.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap {
      index, line in
      line.components(separatedBy: Self.mark).dropFirst().map {
        Message(file: name, line: index + 1, text: $0)
      }
    }
  }

  private func annotate(_ source: String, _ messages: Set<Message>) -> String {
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.enumerated().map { index, line in
      let bare = line.components(separatedBy: Self.mark)[0]
      let own = messages.filter { $0.line == index + 1 }.sorted()
      return ([bare] + own.map { $0.text }).joined(separator: Self.mark)
    }.joined(separator: "\n")
  }
}
