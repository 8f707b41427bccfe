// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

@Suite("forward bench")
struct BenchTests {
  @Test("the table and the JSON each have the measured rows")
  func outputs() throws {
    let folder = FileManager.default.temporaryDirectory
    let json = folder.appendingPathComponent("bench-\(UUID()).json")
    defer { try? FileManager.default.removeItem(at: json) }
    let result = try Tool.run(["bench", "--rounds", "2", "--json", json.path])
    #expect(result.status == 0)
    #expect(result.errors.isEmpty)
    let report = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: json)) as? [String: Any])
    let rows = try #require(report["rows"] as? [[String: Any]])
    #expect(rows.count >= 10)
    for row in rows {
      let name = try #require(row["name"] as? String)
      #expect(result.output.contains(name))
      #expect(try #require(row["ns_min"] as? Double) > 0)
      if let baseline = row["baseline"] as? String {
        #expect(rows.contains { $0["name"] as? String == baseline })
        #expect(try #require(row["ratio"] as? Double) > 0)
      }
    }
  }

  #if Macros
    @Test("a face of one weak target, and of sixteen, stands beside weak boxes")
    func faces() throws {
      let json = FileManager.default.temporaryDirectory
        .appendingPathComponent("bench-\(UUID()).json")
      defer { try? FileManager.default.removeItem(at: json) }
      let result = try Tool.run(["bench", "--rounds", "2", "--json", json.path])
      let report = try #require(
        try JSONSerialization.jsonObject(with: Data(contentsOf: json)) as? [String: Any])
      let rows = try #require(report["rows"] as? [[String: Any]])
      for number in [1, 16] {
        let row = try #require(rows.first { $0["name"] as? String == "value/face-weak/\(number)" })
        #expect(row["baseline"] as? String == "value/weak-boxes/\(number)")
        #expect(try #require(row["ratio"] as? Double) > 0)
        let line = result.output.split(separator: "\n").first {
          $0.contains("value/face-weak/\(number) ")
        }
        #expect(try #require(line).contains("x  "), "its ratio")
        #expect(result.output.contains("value/weak-boxes/\(number) "))
      }
    }
  #endif

  @Test("wrong options are refused, and a file that cannot be written is said")
  func refusals() throws {
    #expect(try Tool.run(["bench", "--rounds", "none"]).status == 64)
    #expect(try Tool.run(["bench", "--json"]).status == 64)
    #expect(try Tool.run(["bench", "extra"]).status == 64)
    #expect(try Tool.run(["bench", "--html", "page.html"]).status == 64)
    let result = try Tool.run(["bench", "--rounds", "1", "--json", "/nowhere/at/all"])
    #expect(result.status == 1)
    #expect(result.errors.contains("cannot be written"))
  }
}
