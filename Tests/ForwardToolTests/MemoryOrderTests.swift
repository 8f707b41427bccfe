// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

/// Each atomic access has its reason in Documentation/Internals/MemoryOrder.md.
@Suite("The page about memory order", .readsTextsAlone)
struct MemoryOrderTests {
  /// The number of lines with an atomic access or fence, by file.
  static func found() throws -> [String: Int] {
    let access = /__atomic_\w+\(|atomic_\w+_explicit\(|ordering: \./
    var counts: [String: Int] = [:]
    for (folder, prefix) in [("CShims/CallShims", ""), ("Sources", "")] {
      let root = SnippetTests.root.appendingPathComponent(folder)
      let walk = try #require(
        FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
      for case let file as URL in walk
      where ["swift", "c", "h"].contains(file.pathExtension) && !file.path.contains(".docc/") {
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let count = lines.count { line in
          !line.drop { $0 == " " }.hasPrefix("//") && line.contains(access)
        }
        let name = file.path.dropFirst(root.path.count + 1)
        if count > 0 { counts[prefix + name] = count }
      }
    }
    return counts
  }

  /// The rows of the page's tables: the path of a file, and the number of lines.
  static func told() throws -> [String: Int] {
    let page = SnippetTests.root.appendingPathComponent("Documentation/Internals/MemoryOrder.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let row = #/^\| `([^`]+)` \| (\d+) \| /#
    return Dictionary(
      uniqueKeysWithValues: text.split(separator: "\n").compactMap { line in
        line.firstMatch(of: row).map { (String($0.1), Int($0.2) ?? 0) }
      })
  }

  @Test("every file with atomic accesses has a row, with the number of its lines")
  func rows() throws {
    let (found, told) = try (Self.found(), Self.told())
    #expect(found.count > 30)
    for (file, count) in found.sorted(by: { $0.key < $1.key }) {
      #expect(told[file] == count, "\(file)")
    }
    #expect(Set(told.keys).subtracting(found.keys).isEmpty)
  }
}
