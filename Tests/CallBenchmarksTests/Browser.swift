import Foundation
import ForwardingTestSupport

/// A page as a real browser lays it out: in light and in dark, on a wide and on a narrow screen.
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
    /// The points and pieces of curves, and how many of them are not inside of the picture.
    let points: Int
    let pieces: Int
    let outside: Int
    /// What a screen reader says of the picture.
    let role: String
    let said: String
    let rowsOfTable: Int
    let axes: [String]
  }
  let isDark: Bool
  let width: Int
  let charts: [Chart]
  let ids: [String]
  /// Texts that overlap another, that leave their box, and how wide the page is.
  let overlapping: [String]
  let overflowing: [String]
  let pageWidth: Int
  /// What has less contrast to the page than it needs: text 4.5, and what is drawn 3.
  let faint: [String]
  let textsCompared: Int
  let drawnCompared: Int
}

enum Browser {
  /// Chromium, or what is like it.
  static let path = ["chromium", "chromium-browser", "google-chrome", "chrome"].lazy.compactMap {
    Toolchain.path(of: $0)
  }.first

  static let missing = "there is no chromium (apt-get install chromium, or Scripts/setup.sh check)"

  static let screens = [("light", 360), ("light", 1200), ("dark", 360), ("dark", 1200)]

  struct Failure: Error, CustomStringConvertible { let description: String }

  /// Shows the page in a frame for each of `screens`, and measures what is in it.
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
    // As root, a browser has no sandbox; this one reads nothing but the file.
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
    // The browser's own spelling of text in HTML.
    let json = String(result.output[start..<end]).replacingOccurrences(of: "&lt;", with: "<")
      .replacingOccurrences(of: "&gt;", with: ">").replacingOccurrences(of: "&amp;", with: "&")
    guard json.hasPrefix("[") else { throw Failure(description: "the page says: \(json)") }
    return try JSONDecoder().decode([Rendering].self, from: Data(json.utf8))
  }
}
