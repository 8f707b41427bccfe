// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport

/// A page in the layout of a real browser: in light and dark mode, on a wide and on a narrow
/// screen.
struct Rendering: Decodable, Sendable {
  struct Bar: Decodable, Sendable {
    let row: String
    let isOurs: Bool
    let name: String
    let value: String
    let width: Double
    let color: String
  }
  struct Chart: Decodable, Sendable {
    let title: String
    let top: Double
    let bars: [Bar]
    /// The number of points and segments of curves, and of those outside the picture.
    let points: Int
    let pieces: Int
    let outside: Int
    /// The role and the label of the picture for a screen reader.
    let role: String
    let said: String
    let rowsOfTable: Int
    let axes: [String]
  }
  let isDark: Bool
  let width: Int
  let charts: [Chart]
  let ids: [String]
  /// Texts that overlap another one, texts that leave their box, and the width of the page.
  let overlapping: [String]
  let overflowing: [String]
  let pageWidth: Int
  /// Elements with less contrast to the page than they need: 4.5 for text, 3 for shapes.
  let faint: [String]
  let textsCompared: Int
  let drawnCompared: Int
}

enum Browser {
  /// Chromium, or a browser of the same family.
  static let path = ["chromium", "chromium-browser", "google-chrome", "chrome"].lazy.compactMap {
    Toolchain.path(of: $0)
  }.first

  static let missing = "there is no chromium (apt-get install chromium, or Scripts/setup.sh check)"

  static let screens = [("light", 360), ("light", 1200), ("dark", 360), ("dark", 1200)]

  struct Failure: Error, CustomStringConvertible { let description: String }

  /// Shows the page in a frame for each of `screens`, and measures its contents.
  static func render(_ page: String) throws -> [Rendering] {
    guard let path else { throw Failure(description: missing) }
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("forwarding-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let script = try String(
      contentsOf: Toolchain.package.appendingPathComponent("Tests/Data/Page/measure.js"),
      encoding: .utf8)
    func quoted(_ value: some Encodable) throws -> String {
      String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
        .replacingOccurrences(of: "</", with: "<\\/")
    }
    let frames = screens.map { ["scheme": $0.0, "width": "\($0.1)"] }
    let outer = """
      <!doctype html><meta charset="utf-8"><body><pre id="measured"></pre><script>
      const page = \(try quoted(page)), screens = \(try quoted(frames));
      \(script)
      </script></body>
      """
    let file = folder.appendingPathComponent("frames.html")
    try outer.write(to: file, atomically: true, encoding: .utf8)
    // A browser cannot start its sandbox as root; this one reads nothing but the file.
    let result = try run(
      path,
      [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        "--user-data-dir=\(folder.path)/user", "--window-size=1300,900", "--timeout=60000",
        "--dump-dom", file.absoluteString,
      ])
    guard let start = result.output.range(of: "<pre id=\"measured\">")?.upperBound,
      let end = result.output.range(of: "</pre>")?.lowerBound
    else {
      throw Failure(description: "chromium ended with \(result.status):\n\(result.errors)")
    }
    // Undoes the browser's escaping of text in HTML.
    let json = String(result.output[start..<end]).replacingOccurrences(of: "&lt;", with: "<")
      .replacingOccurrences(of: "&gt;", with: ">").replacingOccurrences(of: "&amp;", with: "&")
    guard json.hasPrefix("[") else { throw Failure(description: "the page says: \(json)") }
    return try JSONDecoder().decode([Rendering].self, from: Data(json.utf8))
  }
}
