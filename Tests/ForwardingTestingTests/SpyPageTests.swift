// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite("The page on spies")
struct SpyPageTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .resolvingSymlinksInPath()

  /// The display names of all tests here.
  private static func promises() throws -> Set<String> {
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return try Set(
      files.filter { $0.hasSuffix(".swift") }.flatMap { file in
        try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
          .matches(of: /@Test\(\s*"([^"]+)"/).map { String($0.1) }
      })
  }

  @Test("each row of the comparison with other libraries names existing tests, or a reason")
  func rows() throws {
    let page = Self.folder.appendingPathComponent("../../Documentation/Testing.md")
    let text = try String(contentsOf: page.standardizedFileURL, encoding: .utf8)
    let part = try #require(text.components(separatedBy: "\n## Beside other libraries\n").last)
    let rows = try #require(part.components(separatedBy: "\n## ").first)
      .split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.contains("test or reason") }
    #expect(rows.count >= 40)
    let promises = try Self.promises()
    for row in rows {
      let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      #expect(cells.count == 3, "\(row)")
      let last = cells.last ?? ""
      guard last.hasPrefix("*") else {
        #expect(last.count > 5, "\(row)")
        continue
      }
      for name in last.matches(of: /\*([^*]+)\*/).map({ String($0.1) }) {
        #expect(promises.contains(name), "\(name)")
      }
    }
  }
}
