// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

/// The journeys of calls in `Documentation/Architecture.md`: each line has a file, and the functions
/// there.
@Suite("The journeys of Architecture.md", .readsTextsAlone)
struct JourneyTests {
  private struct Stop {
    let file: String
    let functions: [String]
  }

  /// The lines of the journeys with a file. Functions come first, in front of a colon.
  private static func stops() throws -> [Stop] {
    let page = try ExampleSources.lines("Documentation/Architecture.md")
    let start = try #require(page.firstIndex(of: "## Four journeys"))
    let section = page[(start + 1)...].prefix { !$0.hasPrefix("## ") }
    let names = #/^((?:[\w.]+(?:\([\w:]*\))?(?:, )?)+)(?::|$)/#
    return section.compactMap { line in
      guard let stop = line.wholeMatch(of: #/([\w+/.]+\.(?:swift|c|h|S)) +(.+)/#) else {
        return nil
      }
      let functions = String(stop.2).prefixMatch(of: names).map { match in
        match.1.components(separatedBy: ", ").map { name in
          String(name.prefix { $0 != "(" }.split(separator: ".").last ?? "")
        }
      }
      return Stop(file: String(stop.1), functions: functions ?? [])
    }
  }

  @Test("each function that a journey names is in the file that it names")
  func functions() throws {
    let stops = try Self.stops()
    #expect(stops.count > 30)
    #expect(stops.count { !$0.functions.isEmpty } > 25)
    let files =
      try HouseTests.files("Sources", ["swift"]) + HouseTests.files("CShims", ["c", "h", "S"])
    for stop in stops {
      let found = files.filter { $0.0.hasSuffix("/" + stop.file) }
      guard found.count == 1, let lines = found.first?.1 else {
        Issue.record("\(stop.file) names \(found.count) files")
        continue
      }
      for function in stop.functions where !lines.contains(where: { Self.defines($0, function) }) {
        Issue.record("\(stop.file) has no \(function)")
      }
    }
  }

  /// Whether a line begins the definition of a function in Swift, C or assembly.
  private static func defines(_ line: Substring, _ function: String) -> Bool {
    guard line.contains(function) else { return false }
    return line.contains("func \(function)")
      || line.contains("\(function)(") && line.first?.isLetter == true
      || line.hasPrefix("\(function):")
      || line.contains("static inline") && line.contains(" \(function)(")
  }
}
