// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

/// A Markdown page: its links, and the anchors of its sections.
private struct Page {
  let links: [String]
  let anchors: Set<String>
  let text: String

  init(_ text: String) {
    self.text = text
    var isCode = false
    var prose: [Substring] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") { isCode.toggle() } else if !isCode { prose.append(line) }
    }
    links = prose.flatMap { $0.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) } }
      .filter { !$0.contains("://") }
    anchors = Set(prose.filter { $0.hasPrefix("#") }.map(Self.anchor))
  }

  /// The anchor of a heading, by the rules of code forges.
  static func anchor(_ heading: Substring) -> String {
    let title = heading.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
    return String(
      title.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.map {
        $0 == " " ? "-" : $0
      })
  }
}

@Suite("Links in the documentation", .readsTextsAlone)
struct DocumentationLinkTests {
  private static func page(_ path: String) throws -> Page {
    Page(try ExampleSources.lines(path).joined(separator: "\n"))
  }

  /// All pages, by their paths.
  private static func paths() throws -> [String] {
    let folder = SnippetTests.root.appendingPathComponent("Documentation").path
    let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return [
      "README.md", "SECURITY.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md",
      "RELEASING.md",
    ]
      + files.filter { $0.hasSuffix(".md") }.sorted().map { "Documentation/\($0)" }
  }

  /// The destination of a link on a page: the path of a file, and a section of it.
  private static func target(_ link: String, of path: String) -> (path: String, anchor: String?) {
    let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let anchor = parts.count > 1 ? String(parts[1]) : nil
    if parts[0].isEmpty { return (path, anchor) }
    let folder = URL(fileURLWithPath: "/" + path).deletingLastPathComponent()
    let file = folder.appendingPathComponent(String(parts[0])).standardizedFileURL
    return (String(file.path.dropFirst()), anchor)
  }

  @Test("each link leads to an existing file and section")
  func links() throws {
    var count = 0
    for path in try Self.paths() {
      for link in try Self.page(path).links {
        count += 1
        let (file, anchor) = Self.target(link, of: path)
        let full = SnippetTests.root.appendingPathComponent(file).path
        guard FileManager.default.fileExists(atPath: full) else {
          Issue.record("\(path) links to \(link)")
          continue
        }
        guard let anchor else { continue }
        #expect(try Self.page(file).anchors.contains(anchor), "\(path) links to \(link)")
      }
    }
    #expect(count > 50)
  }

  @Test("each public type is named in the README, or on a page that the README links to")
  func types() throws {
    let readme = try Self.page("README.md")
    let linked = try Set(readme.links.map { Self.target($0, of: "README.md").path })
      .filter { $0.hasSuffix(".md") }.map { try Self.page($0).text }
    let words = Set(
      ([readme.text] + linked).flatMap { $0.split { !$0.isLetter && !$0.isNumber } })
    let types = try ExampleSources.publicTypes().map(\.type)
    #expect(types.count > 50)
    for type in types where !words.contains(Substring(type)) {
      Issue.record("nobody finds \(type)")
    }
  }

  @Test("each page is at most two links from the README")
  func pages() throws {
    var found: Set = ["README.md"]
    for _ in 0..<2 {
      for path in found where path.hasSuffix(".md") {
        found.formUnion(try Self.page(path).links.map { Self.target($0, of: path).path })
      }
    }
    for path in try Self.paths() where !found.contains(path) {
      Issue.record("nobody finds \(path)")
    }
  }

  /// Files that a page names, by their last path components, and types of the C core.
  private static func names(_ text: String) -> (files: Set<String>, types: Set<String>) {
    let files = text.matches(of: /\b[\w+]+\.(?:swift|c|h|S|pml)\b/).map { String($0.0) }
    return (Set(files), Set(text.matches(of: /\bFWD[A-Z]\w+/).map { String($0.0) }))
  }

  @Test("the files and C types that Architecture and Frame name exist")
  func namedFiles() throws {
    var files: Set = ["ffi.h"]
    var core = ""
    for folder in ["CShims", "Sources", "Tests"] {
      let root = SnippetTests.root.appendingPathComponent(folder)
      let paths = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String }
      for path in try #require(paths) {
        files.insert(String(path.split(separator: "/").last ?? ""))
        if folder == "CShims", path.hasSuffix(".h") {
          core += try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        }
      }
    }
    let types = Self.names(core).types
    var count = 0
    for path in ["Documentation/Architecture.md", "Documentation/Internals/Frame.md"] {
      let named = Self.names(try Self.page(path).text)
      count += named.files.count + named.types.count
      for name in named.files.subtracting(files).union(named.types.subtracting(types)) {
        Issue.record("\(path) names \(name), which is gone")
      }
    }
    #expect(count > 40)
  }

  @Test(
    "a heading has the anchor that code forges give it",
    arguments: [
      ("## Nothing is silent", "nothing-is-silent"),
      ("### From `NSInvocation`", "from-nsinvocation"),
      ("# What is proved, and how", "what-is-proved-and-how"),
    ])
  func anchors(_ heading: String, _ anchor: String) {
    #expect(Page.anchor(heading[...]) == anchor)
  }

  @Test("links inside code are ignored")
  func code() {
    let page = Page("[one](a.md#b)\n```swift\nlet x = y[0](z)\n```\n## Three words here")
    #expect(page.links == ["a.md#b"])
    #expect(page.anchors == ["three-words-here"])
  }
}
