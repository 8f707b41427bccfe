import Foundation

/// Swift code in the documentation, and where it stands.
struct Example {
  let file: String
  /// The number of the first line of code.
  let line: Int
  let code: [String]
  var name: String { "\(file):\(line)" }
}

/// The documentation of this package: comments in front of declarations, and Markdown.
enum ExampleSources {
  static let modules = ["TypeEncodings", "Invocations", "Forwarding", "InvocationText"]

  /// The code in all documentation comments of the public modules.
  static func inComments() throws -> [Example] {
    try modules.flatMap { try files("Sources/\($0)", "swift") }.flatMap { path, lines in
      let comments = lines.map { line -> String? in
        let text = line.drop { $0 == " " }
        guard text.hasPrefix("///") else { return nil }
        return String(text.dropFirst(text.hasPrefix("/// ") ? 4 : 3))
      }
      return blocks(path, comments)
    }
  }

  /// The code in the README and in `Documentation`. A block below `<!-- fragment -->` is left out.
  static func inMarkdown() throws -> [Example] {
    let pages = try [("README.md", lines("README.md"))] + files("Documentation", "md")
    return pages.flatMap { path, lines in blocks(path, lines) }
  }

  /// The public types at the top of a module's files, and whether their comments have an example.
  static func publicTypes() throws -> [(type: String, hasExample: Bool)] {
    let declaration =
      /(?:public|open) (?:final |indirect )?(?:class|struct|enum|protocol|actor) (\w+).*/
    return try modules.flatMap { try files("Sources/\($0)", "swift") }.flatMap { _, lines in
      var types: [(String, Bool)] = []
      var hasExample = false
      for line in lines {
        if line.hasPrefix("/// ```swift") { hasExample = true }
        if line.hasPrefix("///") || line.hasPrefix("@") || line.hasPrefix("#") { continue }
        if let match = line.wholeMatch(of: declaration) {
          types.append((String(match.1), hasExample))
        }
        hasExample = false
      }
      return types
    }
  }

  static func lines(_ path: String) throws -> [String] {
    let file = SnippetTests.root.appendingPathComponent(path)
    return try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
  }

  private static func files(_ folder: String, _ kind: String) throws -> [(String, [String])] {
    let root = SnippetTests.root.appendingPathComponent(folder).path
    let paths = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
    return try paths.filter { $0.hasSuffix("." + kind) }.sorted().map { path in
      ("\(folder)/\(path)", try lines("\(folder)/\(path)"))
    }
  }

  /// The blocks of Swift in a text; a line that is no text ends one.
  private static func blocks(_ file: String, _ lines: [String?]) -> [Example] {
    var found: [Example] = []
    var first: Int?
    for (index, line) in lines.enumerated() {
      if let begin = first, line == nil || line == "```" {
        found.append(
          Example(file: file, line: begin + 1, code: lines[begin..<index].compactMap { $0 }))
        first = nil
      } else if first == nil, line == "```swift" {
        let isFragment = index > 0 && lines[index - 1] == "<!-- fragment -->"
        if !isFragment { first = index + 1 }
      }
    }
    return found
  }
}
