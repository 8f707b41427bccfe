// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A page of the documentation, and the article that it becomes.
package struct Page {
  let path: String
  let product: String
  let title: String
  private let lines: [String]

  package init(path: String, product: String, text: String) throws {
    self.path = path
    self.product = product
    lines = text.components(separatedBy: "\n")
    guard let first = lines.first, first.hasPrefix("# ") else {
      throw Fault("\(path) does not begin with a title")
    }
    title = String(first.dropFirst(2))
  }

  /// The name of the article in its catalog, and the last part of its address. It begins with a word
  /// that no symbol has.
  var article: String { "Page-" + Self.fragment(title) }

  /// The address of the article, below that of the site.
  var address: String { "/documentation/\(product)/\(article)".lowercased() }

  /// Addresses have no letters that mean something in an address.
  static func fragment(_ heading: String) -> String {
    let kept = heading.filter { $0.isLetter || $0.isNumber || " -".contains($0) }
    return kept.split(whereSeparator: { " -".contains($0) }).joined(separator: "-")
  }

  /// The anchor that code forges give a heading.
  static func anchor(_ heading: String) -> String {
    String(
      heading.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
        .map { $0 == " " ? "-" : $0 })
  }

  /// The lines, and whether each belongs to a block of code.
  private var marked: [(line: String, isCode: Bool)] {
    var isOpen = false
    return lines.map { line in
      let isFence = line.hasPrefix("```")
      if isFence { isOpen.toggle() }
      return (line, isOpen || isFence)
    }
  }

  /// The destinations of its links to files and sections.
  package var links: [String] {
    marked.filter { !$0.isCode }
      .flatMap { $0.line.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) } }
      .filter { !$0.contains("://") }
  }

  /// The path of a file, and the section of it, that a link on this page leads to.
  package func target(of link: String) -> (file: String, anchor: String?) {
    let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let folder = URL(fileURLWithPath: "/" + path).deletingLastPathComponent()
    let file = folder.appendingPathComponent(String(parts[0])).standardizedFileURL.path.dropFirst()
    return (parts[0].isEmpty ? path : String(file), parts.count > 1 ? String(parts[1]) : nil)
  }

  /// The text of each heading, by the anchor that code forges give it.
  package var headings: [String: String] {
    var found: [String: String] = [:]
    for (line, isCode) in marked where !isCode && line.hasPrefix("#") {
      let text = line.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces)
      found[Self.anchor(text)] = text
    }
    return found
  }

  /// The article: the same text, where links to pages lead to articles, and links to other files of
  /// the repository are only text. `base` is the path of the site on its server.
  package func text(_ pages: [String: Page], base: String) throws -> String {
    var result: [String] = []
    for (line, isCode) in marked {
      if isCode {
        result.append(line)
      } else if line.wholeMatch(of: /<!-- .* -->/) == nil {
        // Two ticks would be a link to a symbol. The ticks within are those of a name with spaces.
        let code = line.replacing(/``([^`]+(?:`[^`]+)*)``/) { match in
          "`" + match.1.filter { $0 != "`" } + "`"
        }
        result.append(try linked(code, pages, base: base))
      }
    }
    return result.joined(separator: "\n")
  }

  private func linked(_ line: String, _ pages: [String: Page], base: String) throws -> String {
    var result = ""
    var rest = line[...]
    while let match = rest.firstMatch(of: /\[([^\]\[]+)\]\(([^)\s]+)\)/) {
      result += rest[..<match.range.lowerBound]
      let text = String(match.1)
      if let target = try destination(String(match.2), pages, base: base) {
        result += "[\(text)](\(target))"
      } else {
        result += text
      }
      rest = rest[match.range.upperBound...]
    }
    return result + rest
  }

  /// The destination of a link in the article; nil for a file that has no article.
  private func destination(
    _ link: String, _ pages: [String: Page], base: String
  ) throws -> String? {
    if link.contains("://") { return link }
    let (file, section) = target(of: link)
    guard let page = pages[file] else {
      if file.hasSuffix(".md") {
        throw Fault("\(path) links to \(file), which has no article")
      }
      return nil
    }
    var anchor = ""
    if let section {
      guard let heading = page.headings[section] else {
        throw Fault("\(path) links to \(link), and there is no such section")
      }
      anchor = "#" + Self.fragment(heading)
    }
    // `docc` checks links within a catalog; those to another one have anchors of the same rule.
    return page.product == product ? "doc:\(page.article)\(anchor)" : base + page.address + anchor
  }
}
