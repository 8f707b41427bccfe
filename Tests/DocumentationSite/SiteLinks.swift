// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The links of a finished site, read from the data that its pages show.
package struct SiteLinks {
  let site: URL
  /// The path of the site on its server: empty, or with a slash in front.
  let base: String

  package init(site: URL, base: String) { (self.site, self.base) = (site, base) }

  private struct Document {
    var links: Set<String> = []
    var anchors: Set<String> = []
    /// The chapters of tutorials, which have an address and no page: nothing shows it as a link.
    var chapters: Set<String> = []
  }

  /// The number of links, and those that lead nowhere.
  package func check() throws -> (count: Int, broken: [String]) {
    let data = site.appendingPathComponent("data")
    let files = FileManager.default.enumerator(atPath: data.path)?.compactMap { $0 as? String }
    var documents: [String: Document] = [:]
    for file in files ?? [] where file.hasSuffix(".json") {
      let value = try JSONSerialization.jsonObject(
        with: Data(contentsOf: data.appendingPathComponent(file)))
      var document = Document()
      let hierarchy = (value as? [String: Any])?["hierarchy"] as? [String: Any]
      let chapters = hierarchy?["modules"] as? [[String: Any]] ?? []
      document.chapters = Set(chapters.compactMap { $0["reference"] as? String })
      read(value, into: &document)
      documents["/" + file.dropLast(5).lowercased()] = document
    }
    var count = 0
    var broken: [String] = []
    for (path, document) in documents {
      for link in document.links {
        count += 1
        if let fault = fault(link, in: documents) { broken.append("\(path): \(link) \(fault)") }
      }
    }
    return (count, broken.sorted())
  }

  private func fault(_ link: String, in documents: [String: Document]) -> String? {
    let parts = link.split(separator: "#", maxSplits: 1).map(String.init)
    guard let target = documents[parts[0].lowercased()] else { return "leads to no page" }
    guard parts.count > 1 else { return nil }
    let anchor = parts[1].removingPercentEncoding ?? parts[1]
    return target.anchors.contains(anchor) ? nil : "leads to no section"
  }

  /// Collects the addresses in the data of a page. Those of other catalogs begin with the base.
  private func read(_ value: Any, into document: inout Document) {
    if let list = value as? [Any] {
      for part in list { read(part, into: &document) }
    } else if let object = value as? [String: Any] {
      if let name = object["identifier"] as? String, document.chapters.contains(name) { return }
      if let anchor = object["anchor"] as? String { document.anchors.insert(anchor) }
      for (key, part) in object {
        if ["url", "destination", "path"].contains(key), var text = part as? String {
          if !base.isEmpty, text.hasPrefix(base + "/") { text.removeFirst(base.count) }
          let isPage = ["/documentation/", "/tutorials/"].contains { text.hasPrefix($0) }
          if isPage { document.links.insert(text) }
        }
        read(part, into: &document)
      }
    }
  }
}
