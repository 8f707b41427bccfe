// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

/// Comments and pages begin a sentence with the thing that it is about. These patterns are signs of one that does not.
@Suite("Comments and pages speak plainly", .readsTextsAlone)
struct PlainWordsTests {
  /// How many lines may still have one of the patterns. The limit only ever falls.
  static let limit = 15

  private static let words = [
    "what (came|comes|is|was)", "nobody", "somebody", "whoever", "whom",
    "who (has|is|sends|asks|waits|reads|writes)", "of which", "(is|are) none",
  ]
  private static let kinds: Set = ["swift", "c", "h", "S", "md"]

  private let pattern: Regex<AnyRegexOutput>

  init() throws {
    pattern = try Regex("\\b(\(Self.words.joined(separator: "|")))\\b").ignoresCase()
  }

  /// The part of a line that a person reads: all of a page; of a source, comments, names of tests and texts.
  static func prose(_ line: Substring, ofPage isPage: Bool) -> Substring? {
    if isPage { return line }
    if let comment = line.firstRange(of: "//") { return line[comment.upperBound...] }
    let start = line.drop { $0 == " " }
    return ["@Test(", "@Suite(", "\"", "*", "/*"].contains { start.hasPrefix($0) } ? start : nil
  }

  @Test("the number of hard sentences only falls")
  func count() throws {
    let root = SnippetTests.root
    let walk = try #require(
      FileManager.default.enumerator(
        at: root, includingPropertiesForKeys: nil, options: [.skipsHiddenFiles]))
    var found: [String] = []
    for case let file as URL in walk where Self.kinds.contains(file.pathExtension) {
      let path = file.path.dropFirst(root.path.count + 1)
      // This file names the patterns, and data are what compilers print.
      if path.hasSuffix("PlainWordsTests.swift") || path.hasPrefix("Tests/Data/") { continue }
      let text = try String(contentsOf: file, encoding: .utf8)
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      for (index, line) in lines.enumerated() {
        guard let prose = Self.prose(line, ofPage: file.pathExtension == "md") else { continue }
        if prose.contains(pattern) { found.append("\(path):\(index + 1): \(line)") }
      }
    }
    #expect(found.count <= Self.limit, "\(found.joined(separator: "\n"))")
    #expect(found.count > Self.limit - 5, "lower the limit to \(found.count)")
  }

  @Test(
    "a hard sentence is found where a person reads it",
    arguments: [
      ("  // what came is kept", true), ("  /// Whoever asks waits.", true),
      ("  let nobody = 1", false), ("  @Test(\"nobody answers\")", true),
      ("  call()  // of which two are left", true), ("  // The answer is kept.", false),
    ])
  func patterns(_ line: String, _ isHard: Bool) {
    let prose = Self.prose(line[...], ofPage: false)
    #expect(prose?.contains(pattern) ?? false == isHard)
  }
}
