// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Writes the output of the tool, in colors if the terminal has them.
enum Terminal {
  enum Style: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case cyan = "36"
  }

  /// Whether to print colors: only on a terminal, and not if NO_COLOR is set.
  static let hasColor: Bool = {
    func variable(_ name: String) -> String {
      unsafe getenv(name).map { unsafe String(cString: $0) } ?? ""
    }
    return isatty(1) == 1 && variable("NO_COLOR").isEmpty && variable("TERM") != "dumb"
  }()

  static func styled(_ text: String, _ style: Style) -> String {
    hasColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  static func out(_ text: String = "") { print(text) }

  /// Writes a line to standard error, with one call of `write`.
  static func error(_ text: String) {
    let line = text + "\n"
    _ = unsafe write(2, line, line.utf8.count)
  }

  /// Formats rows as columns. The cells of the columns in `right` are aligned to the right.
  static func table(_ rows: [[String]], right: Set<Int> = [], indent: String = "") -> String {
    let widths = (0..<(rows.map(\.count).max() ?? 0)).map { column in
      rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      var line = indent
      for (column, cell) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        line += right.contains(column) ? padding + cell : cell + padding
        line += column + 1 < row.count ? "  " : ""
      }
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }

  /// Reads the lines of standard input as raw bytes, because an encoding may be invalid UTF-8.
  ///
  /// - Returns: zero, or the error of the system that came behind the last whole line.
  static func readLines(_ body: ([UInt8]) -> Void) -> Int32 {
    guard let input = unsafe fdopen(0, "r") else { return errno }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { unsafe free(line) }
    while true {
      let count = unsafe getline(&line, &capacity, input)
      if count < 0 { return unsafe ferror(input) != 0 ? errno : 0 }
      // SAFETY: the line has `count` bytes until the next call, with its end if it has one.
      let bytes = unsafe UnsafeRawBufferPointer(start: line, count: count)
      body(unsafe Array(bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]))
    }
  }
}
