// SPDX-License-Identifier: Apache-2.0
import DocumentationSite
import ForwardingTestSupport
import Foundation
import Testing

@Suite("Links in the documentation", .readsTextsAlone)
struct DocumentationLinkTests {
  private static func page(_ path: String) throws -> Page {
    try Page(path: path, product: "", text: Repository.text(path))
  }

  /// All pages, by their paths.
  private static func paths() throws -> [String] {
    let names = ["README", "SECURITY", "CONTRIBUTING", "CODE_OF_CONDUCT", "CHANGELOG", "RELEASING"]
    return try names.map { "\($0).md" } + Repository.files("Documentation", ["md"]).map(\.path)
  }

  @Test("each link leads to an existing file and section")
  func links() throws {
    var count = 0
    for path in try Self.paths() {
      let page = try Self.page(path)
      for link in page.links {
        count += 1
        let (file, anchor) = page.target(of: link)
        guard FileManager.default.fileExists(atPath: Repository.file(file).path) else {
          Issue.record("\(path) links to \(link)")
          continue
        }
        guard let anchor else { continue }
        #expect(try Self.page(file).headings[anchor] != nil, "\(path) links to \(link)")
      }
    }
    #expect(count > 50)
  }

  @Test("the landing page of a library leads to each of its public types")
  func types() throws {
    for type in try ExampleSources.publicTypes() where !type.isHidden {
      let landing = "Sources/\(type.module)/\(type.module).docc/\(type.module).md"
      #expect(try Repository.text(landing).contains("``\(type.name)``"), "\(landing): \(type.name)")
    }
  }
}
