// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

/// A Markdown page: its links, and the anchors of its sections.
private struct LinkedPage {
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
  private static func page(_ path: String) throws -> LinkedPage {
    LinkedPage(try Repository.text(path))
  }

  /// All pages, by their paths.
  private static func paths() throws -> [String] {
    let names = ["README", "SECURITY", "CONTRIBUTING", "CODE_OF_CONDUCT", "CHANGELOG", "RELEASING"]
    return try names.map { "\($0).md" } + Repository.files("Documentation", ["md"]).map(\.path)
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
        guard FileManager.default.fileExists(atPath: Repository.file(file).path) else {
          Issue.record("\(path) links to \(link)")
          continue
        }
        guard let anchor else { continue }
        #expect(try Self.page(file).anchors.contains(anchor), "\(path) links to \(link)")
      }
    }
    #expect(count > 50)
  }

  @Test("the landing page of a library leads to each of its public types")
  func types() throws {
    for type in try ExampleSources.publicTypes() where !type.isHidden {
      let landing = "Sources/\(type.module)/\(type.module).docc/\(type.module).md"
      #expect(try Self.page(landing).text.contains("``\(type.name)``"), "\(landing): \(type.name)")
    }
  }

  @Test("headings have the anchors that code forges give them, and links inside code are ignored")
  func anchors() {
    let page = LinkedPage(
      "[one](a.md#b)\n```swift\nlet x = y[0](z)\n```\n### From `NSInvocation`, again")
    #expect(page.links == ["a.md#b"])
    #expect(page.anchors == ["from-nsinvocation-again"])
  }
}
