// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A tab-separated table under `Tests/Data`, made by real compilers or collected from other
/// libraries' tests.
public struct Table: Sendable {
  public struct Row: Sendable, CustomStringConvertible {
    public let number: Int
    let values: [String: String]
    public subscript(column: String) -> String { values[column] ?? "" }
    public var description: String { "row \(number)" }
  }

  public let rows: [Row]

  public init(_ name: String) throws {
    let folder = Toolchain.package.appendingPathComponent("Tests/Data")
    let text = try String(
      contentsOf: folder.appendingPathComponent(name + ".tsv"), encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: true)
    let columns = lines[0].split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    rows = lines.dropFirst().enumerated().map { index, line in
      let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      return Row(
        number: index + 2, values: Dictionary(uniqueKeysWithValues: zip(columns, cells)))
    }
  }
}

/// The bytes of the listing behind a mark of a page. Each line has an offset in front of its bytes,
/// and words behind them.
public func listing(_ mark: String, of page: String) throws -> [UInt8] {
  let text = try String(contentsOf: Toolchain.package.appending(path: page), encoding: .utf8)
  let example = try #require(text.components(separatedBy: "<!-- \(mark) -->\n").last)
  let block = try #require(example.components(separatedBy: "```").dropFirst().first)
  var bytes: [UInt8] = []
  for line in block.split(separator: "\n").dropFirst() {
    #expect(Int(line.prefix(4), radix: 16) == bytes.count, "\(line)")
    bytes += line.dropFirst(6).prefix(23).split(separator: " ").compactMap { UInt8($0, radix: 16) }
  }
  return bytes
}
