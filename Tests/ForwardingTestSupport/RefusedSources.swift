// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Sources that the compiler must refuse.
///
/// Each file has the expected message in a comment at the end of the line: `//~ the message`.
public struct RefusedSources {
  private struct Message: Hashable {
    var file: String
    var line: Int
    var text: String

    func issue(_ what: String) -> String { "\(file):\(line) \(what): \(text)" }
  }

  private static let mark = "  //~ "

  private let folder: URL
  private let options: [String]
  private let hasColumns: Bool

  /// The files in a folder of `Tests/Data`, and the options to compile them with. With columns, the
  /// column precedes each message.
  public init(_ folder: String, options: [String], hasColumns: Bool = false) {
    self.folder = Toolchain.package.appendingPathComponent("Tests/Data/\(folder)")
    self.options = options
    self.hasColumns = hasColumns
  }

  /// Compiles all files. Returns the differences in the compiler's messages, or rewrites the
  /// comments if goldens are recorded.
  public func check() throws -> [String] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    let sources = try names.map {
      ($0, try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8))
    }
    var issues: [String] = sources.isEmpty ? ["there are no files"] : []
    // Compiles each file alone: an error in one would hide later errors in another.
    let said = try sources.reduce(into: Set<Message>()) { all, source in
      all.formUnion(try compile(source.0, source.1, &issues))
    }
    if Toolchain.records {
      for (name, source) in sources {
        let text = annotate(source, said.filter { $0.file == name })
        try text.write(
          to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
      }
      return issues
    }
    let expected = Set(sources.flatMap { name, source in expectations(name, source) })
    return issues
      + expected.subtracting(said).map { $0.issue("compiles, or says something else") }.sorted()
      + said.subtracting(expected).map { $0.issue("says") }.sorted()
  }

  /// The messages of the compiler for a source.
  private func compile(
    _ name: String, _ source: String, _ issues: inout [String]
  ) throws -> Set<Message> {
    guard let swiftc = Toolchain.path(of: "swiftc") else { return [] }
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
      ] + Toolchain.moduleOptions + options)
    if finished.errors.contains("submit a bug report") { issues.append("\(name) crashes") }
    let messages = Set(finished.errors.split(separator: "\n").compactMap { message(String($0)) })
    if messages.isEmpty { issues.append("\(name) compiles") }
    return messages
  }

  /// Parses the message in a line such as `/folder/name.swift:3:14: error: text`.
  private func message(_ line: String) -> Message? {
    guard let match = line.wholeMatch(of: /.*\/([^\/]+\.swift):(\d+):(\d+): error: (.*)/) else {
      return nil
    }
    let text = String(match.4).replacing(/\s\[#.*\]/, with: "")
    return Message(
      file: "\(match.1).txt", line: Int(match.2) ?? 0,
      text: hasColumns ? "\(match.3): \(text)" : text)
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
      let own = messages.filter { $0.line == index + 1 }.map(\.text).sorted()
      return ([bare] + own).joined(separator: Self.mark)
    }.joined(separator: "\n")
  }
}
