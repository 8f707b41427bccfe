// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

@testable import DocumentationSite

@Suite("The input of the documentation, and its links")
struct SiteTests {
  private static let pages: [String: Page] = {
    let one = """
      # One page

      <!-- macros -->
      See [the other](Other.md), [its part](Other.md#a-part-of-it), [home](../README.md#try-it),
      [below](#below), [a file](../LICENSE) and
      ``a `name` of two``.

      ```swift
      let x = y[0](z)
      ```

      ## Below
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
    let text = try Self.pages["Documentation/One.md"]?.text(Self.pages, base: "/base")
    #expect(
      text == """
        # One page

        See [the other](doc:Page-Other), [its part](doc:Page-Other#A-part-of-it), \
        [home](/base/documentation/invocations/page-home#Try-it),
        [below](doc:Page-One-page#Below), a file and
        `a name of two`.

        ```swift
        let x = y[0](z)
        ```

        ## Below
        """)
  }

  @Test("headings have the anchors that code forges give them, and links inside code are ignored")
  func anchors() throws {
    let code = "```swift\nlet x = y[0](z)\n```"
    let text = "# A page\n[one](a.md#b)\n\(code)\n### From `NSInvocation`, again"
    let page = try Page(path: "A.md", product: "Forwarding", text: text)
    #expect(page.links == ["a.md#b"])
    #expect(page.headings.keys.sorted() == ["a-page", "from-nsinvocation-again"])
  }

  @Test(
    "a link to a page or section that does not exist is a fault",
    arguments: ["[x](Nowhere.md)", "[x](Other.md#nothing)", "[x](#nothing)"])
  func brokenLinks(_ link: String) throws {
    let page = try Page(
      path: "Documentation/New.md", product: "Forwarding", text: "# New\n\n\(link)\n")
    #expect(throws: Fault.self) { try page.text(Self.pages, base: "") }
  }

  @Test("each page is an article, and each of its links leads to one or to a file that is none")
  func allPages() throws {
    let pages = try Catalogs(root: Toolchain.package, base: "").pages()
    for (path, _) in try Repository.files("Documentation", ["md"]) {
      #expect(pages[path] != nil, "no landing page names \(path)")
    }
    for (path, page) in pages {
      #expect(throws: Never.self, "\(path)") { try page.text(pages, base: "") }
    }
  }

  @Test("a landing page shows the pages that it names, and an unknown one is a fault")
  func landing() throws {
    let text = "## Topics\n<!-- pages: README.md Documentation/Other.md -->\n- ``A``"
    let filled = try Catalogs.filled(text, Self.pages)
    #expect(filled == "## Topics\n- <doc:Page-Home>\n- <doc:Page-Other>\n- ``A``")
    #expect(throws: Fault.self) { try Catalogs.filled("<!-- pages: no.md -->", Self.pages) }
  }

  /// A graph of the module `Invocations`, with a symbol of another module and three own ones.
  private static func graph() throws -> SymbolGraph {
    func symbol(_ name: String, _ path: [String], _ file: String?, _ comment: String?) -> [String:
      Any]
    {
      var symbol: [String: Any] = ["identifier": ["precise": name], "pathComponents": path]
      if let file { symbol["location"] = ["uri": "file:///Sources/\(file)"] }
      if let comment { symbol["docComment"] = ["lines": [["text": comment]]] }
      return symbol
    }
    let value: [String: Any] = [
      "symbols": [
        symbol("a", ["Plan"], "Invocations/Plan.swift", "Reads a ``TypeEncoding/Member``."),
        symbol("b", ["Plan", "silent"], "Invocations/Plan.swift", nil),
        symbol(
          "c", ["Body"], "Invocations/Body.swift",
          "Used by code that `@Forwardable` generates."),
        symbol("d", ["TypeEncoding"], "TypeEncodings/TypeEncoding.swift", nil),
        symbol("e::SYNTHESIZED::a", ["Plan", "!="], nil, nil),
        symbol("e::SYNTHESIZED::d", ["TypeEncoding", "!="], nil, nil),
      ],
      "relationships": [
        ["kind": "memberOf", "source": "b", "target": "a"],
        ["kind": "memberOf", "source": "e::SYNTHESIZED::a", "target": "a"],
        ["kind": "memberOf", "source": "e::SYNTHESIZED::d", "target": "d"],
      ],
    ]
    let data = try JSONSerialization.data(withJSONObject: value)
    return try SymbolGraph(data, of: "Invocations")
  }

  @Test("a library shows its own symbols, and none that it re-exports")
  func ownSymbols() throws {
    let graph = try Self.graph()
    #expect(graph.symbols.count == 4)
    #expect(graph.names == ["Plan", "Body"])
  }

  @Test("a symbol without a summary is a fault, and so is a visible one for macros alone")
  func faults() throws {
    #expect(
      try Self.graph().faults == [
        "Invocations: Plan.silent has no summary",
        "Invocations: Body is for macros alone, and is not hidden",
      ])
  }

  @Test("a link to a symbol of another library names that library")
  func symbolLinks() {
    let homes = ["TypeEncoding": "TypeEncodings", "Plan": "Other"]
    #expect(
      SymbolGraph.linked("``TypeEncoding/Member``, ``Plan``, ``send``", ["Plan"], homes)
        == "``/TypeEncodings/TypeEncoding/Member``, ``Plan``, ``send``")
  }

  @Test("a link of the site that leads to no page or section is found")
  func siteLinks() throws {
    let site = FileManager.default.temporaryDirectory
      .appendingPathComponent("forwarding-site-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: site) }
    let folder = site.appendingPathComponent("data/documentation")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let links = ["/documentation/b#Here", "/documentation/b#Gone", "/base/documentation/c"]
    let pages: [(String, Any)] = [
      ("a", links.map { ["url": $0] }), ("b", [["anchor": "Here", "type": "heading"]]),
    ]
    for (name, value) in pages {
      try JSONSerialization.data(withJSONObject: value).write(
        to: folder.appendingPathComponent("\(name).json"))
    }
    let (count, broken) = try SiteLinks(site: site, base: "/base").check()
    #expect(count == 3)
    #expect(
      broken == [
        "/documentation/a: /documentation/b#Gone leads to no section",
        "/documentation/a: /documentation/c leads to no page",
      ])
  }
}
