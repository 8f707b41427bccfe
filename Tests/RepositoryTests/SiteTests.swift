// SPDX-License-Identifier: Apache-2.0
import DocumentationSite
import ForwardingTestSupport
import Foundation
import Testing

@Suite("The links of the documentation, and its input", .readsTextsAlone)
struct SiteTests {
  private static let pages: [String: Page] = {
    let one = """
      # One page

      <!-- macros -->
      See [the other](Other.md), [its part](Other.md#a-part-of-it), [home](../README.md#try-it),
      [below](#below-new-part-again), [a file](../LICENSE) and
      ``a `name` of two``.

      ```swift
      let x = y[0](z)
      ```

      ## Below `new Part`, again
      """
    let texts = [
      ("Documentation/One.md", "Forwarding", one),
      ("Documentation/Other.md", "Forwarding", "# Other\n\n## A part of it\n"),
      ("README.md", "Invocations", "# Home\n\n## Try it\n"),
    ]
    return Dictionary(
      uniqueKeysWithValues: texts.map { path, product, text in
        (path, try! Page(path: path, product: product, text: text))
      })
  }()

  @Test("an article links to articles of its catalog, and to those of others by their address")
  func article() throws {
    let page = try #require(Self.pages["Documentation/One.md"])
    #expect(page.headings.keys.sorted() == ["below-new-part-again", "one-page"])
    #expect(
      page.links == [
        "Other.md", "Other.md#a-part-of-it", "../README.md#try-it", "#below-new-part-again",
        "../LICENSE",
      ])
    #expect(
      try page.text(Self.pages, base: "/base") == """
        # One page

        See [the other](doc:Page-Other), [its part](doc:Page-Other#A-part-of-it), \
        [home](/base/documentation/invocations/page-home#Try-it),
        [below](doc:Page-One-page#Below-new-Part-again), a file and
        `a name of two`.

        ```swift
        let x = y[0](z)
        ```

        ## Below `new Part`, again
        """)
  }

  @Test("a link to a page or section that does not exist is a fault, and so is an unknown page")
  func brokenLinks() throws {
    for link in ["[x](Nowhere.md)", "[x](Other.md#nothing)", "[x](#nothing)"] {
      let page = try Page(
        path: "Documentation/New.md", product: "Forwarding", text: "# New\n\n\(link)\n")
      #expect(throws: Fault.self) { try page.text(Self.pages, base: "") }
    }
    let text = "## Topics\n<!-- pages: README.md Documentation/Other.md -->\n- ``A``"
    let filled = try Catalogs.filled(text, Self.pages)
    #expect(filled == "## Topics\n- <doc:Page-Home>\n- <doc:Page-Other>\n- ``A``")
    #expect(throws: Fault.self) { try Catalogs.filled("<!-- pages: no.md -->", Self.pages) }
  }

  @Test("each page is an article, and each of its links leads to one or to a file that is none")
  func links() throws {
    let pages = try Catalogs(root: Toolchain.package, base: "").pages()
    let names = ["README", "SECURITY", "CONTRIBUTING", "CODE_OF_CONDUCT", "CHANGELOG", "RELEASING"]
    let files = try names.map { "\($0).md" } + Repository.files("Documentation", ["md"]).map(\.path)
    for path in files { #expect(pages[path] != nil, "no landing page names \(path)") }
    for (path, page) in pages {
      #expect(throws: Never.self, "\(path)") { try page.text(pages, base: "") }
      for link in page.links {
        let file = Repository.file(page.target(of: link).file).path
        #expect(FileManager.default.fileExists(atPath: file), "\(path) links to \(link)")
      }
    }
    #expect(pages.values.map(\.links.count).reduce(0, +) > 50)
  }

  @Test("a library shows its own symbols, with summaries, and hides those that are for macros")
  func symbols() throws {
    func symbol(_ path: [String], _ file: String, _ comment: String = "") -> [String: Any] {
      [
        "identifier": ["precise": path.joined()], "pathComponents": path,
        "location": ["uri": "file:///Sources/\(file).swift"],
        "docComment": ["lines": [["text": comment]]],
      ]
    }
    let value: [String: Any] = [
      "symbols": [
        symbol(["Plan"], "Invocations/Plan", "Reads a type."),
        symbol(["Plan", "silent"], "Invocations/Plan"),
        symbol(["Body"], "Invocations/Body", "Used by code that `@Forwardable` generates."),
        symbol(["TypeEncoding"], "TypeEncodings/TypeEncoding"),
      ],
      "relationships": [],
    ]
    let graph = try SymbolGraph(JSONSerialization.data(withJSONObject: value), of: "Invocations")
    #expect(graph.names == ["Plan", "Body"])
    #expect(
      graph.faults == [
        "Invocations: Plan.silent has no summary",
        "Invocations: Body is for macros alone, and is not hidden",
      ])
  }
}
