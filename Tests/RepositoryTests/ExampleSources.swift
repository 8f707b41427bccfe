// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Swift code in the documentation, with its location.
struct Example {
  let file: String
  /// The number of the first line of code.
  let line: Int
  let code: [String]
  /// The text of a marker in the line above the block.
  var mark = ""
  var name: String { "\(file):\(line)" }
  var needsMacros: Bool { mark == "macros" }
}

/// The documentation of this package: comments before declarations, and Markdown.
enum ExampleSources {
  static let modules = [
    "TypeEncodings", "Invocations", "Forwarding", "InvocationText", "ForwardingUndo",
    "ForwardingTesting",
    "ForwardingWire", "ForwardingJournal", "ForwardingRemote",
  ]

  /// The code in all documentation comments of the public modules.
  static func inComments() throws -> [Example] {
    try modules.flatMap { try Repository.files("Sources/\($0)", ["swift"]) }.flatMap {
      path, lines in
      let comments = lines.map { line -> String? in
        let text = line.drop { $0 == " " }
        guard text.hasPrefix("///") else { return nil }
        return String(text.dropFirst(text.hasPrefix("/// ") ? 4 : 3))
      }
      return blocks(path, comments).filter { hasMacros || !$0.needsMacros }
    }
  }

  #if Macros
    private static let hasMacros = true
  #else
    private static let hasMacros = false
  #endif

  /// The code in the README, on the landing pages of the libraries and in `Documentation`. Blocks
  /// below `<!-- fragment -->` are left out, and so are blocks below `<!-- file: … -->`, which are
  /// files of a package. Blocks below `<!-- macros -->` need the trait.
  static func inMarkdown() throws -> [Example] {
    let landings = try modules.map { module in
      let path = "Sources/\(module)/\(module).docc/\(module).md"
      return (path: path, lines: try Repository.lines(path))
    }
    let pages =
      try [(path: "README.md", lines: Repository.lines("README.md"))] + landings
      + Repository.files("Documentation", ["md"])
    return pages.flatMap { path, lines in blocks(path, lines) }.filter { example in
      if example.needsMacros { return hasMacros }
      return example.mark != "fragment" && !example.mark.hasPrefix("file: ")
    }
  }

  /// The files of the package that a page builds, by their paths.
  static func package(of page: String) throws -> [String: Example] {
    let files = blocks(page, try Repository.lines(page)).filter { $0.mark.hasPrefix("file: ") }
    return Dictionary(uniqueKeysWithValues: files.map { (String($0.mark.dropFirst(6)), $0) })
  }

  struct PublicType {
    let module: String
    let name: String
    /// Whether its comment has an example.
    var hasExample = false
    /// Whether only code that a macro writes uses it, so that the documentation leaves it out.
    var isHidden = false
  }

  /// The public top-level types of the modules. A name that begins with an underscore is for
  /// generated code only.
  static func publicTypes() throws -> [PublicType] {
    let declaration =
      /(?:public|open) (?:final |indirect )?(?:class|struct|enum|protocol|actor) ([^_]\w*).*/
    return try modules.flatMap { module in
      try Repository.files("Sources/\(module)", ["swift"]).flatMap { _, lines in
        var types: [PublicType] = []
        var next = PublicType(module: module, name: "")
        for line in lines {
          if line.hasPrefix("/// ```swift") { next.hasExample = true }
          if line.hasPrefix("@_documentation(") { next.isHidden = true }
          if line.hasPrefix("///") || line.hasPrefix("@") || line.hasPrefix("#") { continue }
          if let match = line.wholeMatch(of: declaration) {
            types.append(
              PublicType(
                module: module, name: String(match.1), hasExample: next.hasExample,
                isHidden: next.isHidden))
          }
          next = PublicType(module: module, name: "")
        }
        return types
      }
    }
  }

  /// The Swift blocks in a text; nil ends a block.
  private static func blocks(_ file: String, _ lines: [String?]) -> [Example] {
    var found: [Example] = []
    var first: Int?
    for (index, line) in lines.enumerated() {
      if let begin = first, line == nil || line == "```" {
        let above = begin > 1 ? lines[begin - 2] ?? "" : ""
        let mark = above.wholeMatch(of: /<!-- (.+) -->/).map { String($0.1) } ?? ""
        found.append(
          Example(
            file: file, line: begin + 1, code: lines[begin..<index].compactMap { $0 }, mark: mark))
        first = nil
      } else if first == nil, line == "```swift" {
        first = index + 1
      }
    }
    return found
  }
}
