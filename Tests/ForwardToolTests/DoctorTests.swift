// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

@Suite("forward doctor, tour and help")
struct DoctorTests {
  @Test("doctor passes here, prints the file of libffi, and with --json one object")
  func doctor() throws {
    let result = try Tool.run(["doctor"])
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.contains("libffi"))
    #expect(result.output.contains("All 16 checks passed."))
    let object = try Tool.objects(Tool.run(["doctor", "--json"]).output)[0]
    #expect(object["ok"] as? Bool == true)
    #expect((object["checks"] as? [[String: Any]])?.count == 16)
    #expect(object["callback_memory"] is String)
  }

  @Test("tour runs to its end")
  func tour() throws {
    let result = try Tool.run(["tour"])
    #expect(result.status == 0)
    #expect(result.errors.isEmpty)
    for line in [
      "call.invoke(on: one)", "// 105", "the structure is not closed", "didSave(notes)",
      "[9, 6, 5, 4, 3, 2, 1, 1]",
    ] {
      #expect(result.output.contains(line), "\(line)")
    }
    #expect(result.output.split(separator: "didSave(notes)").count == 3)
  }

  @Test("bench prints its rows beside both closures, and draws them with --html")
  func bench() throws {
    let page = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).html")
    defer { try? FileManager.default.removeItem(at: page) }
    let result = try Tool.run(["bench", "--html", page.path])
    #expect(result.status == 0, "\(result.errors)")
    let drawn = try String(contentsOf: page, encoding: .utf8)
    for row in [
      "closure/local", "closure/property", "invoke/recorded", "callback/two", "pow/looked-up",
    ] {
      #expect(result.output.contains("\n\(row) "), "\(row)")
      #expect(drawn.contains("<code>\(row)</code>"), "\(row)")
    }
    #expect(result.output.hasPrefix("row "))
    for what in ["boxes/1 .* 1 delegate in", "boxes/16 .* 16 delegates in"] {
      #expect(try result.output.contains(Regex(what)), "\(what)")
    }
    // Three digits or more, of which thousands are grouped.
    let figures = result.output.split(separator: "\n").dropFirst().map {
      $0.split(separator: " ")[1]
    }
    for figure in figures {
      #expect(figure.wholeMatch(of: /\d\.\d\d|\d\d\.\d|\d{3}|\d{1,3}(,\d{3})+/) != nil, "\(figure)")
    }
    // In each chart, bars are as long as what they show, and the longest one is full.
    for chart in drawn.components(separatedBy: "<figure>").dropFirst() {
      let bars = chart.matches(of: /ns">([\d.,]+) ns.*? style="width: ([\d.]+)%/).map {
        (time: Double($0.1.filter { $0 != "," }) ?? 0, width: Double($0.2) ?? 0)
      }
      let longest = try #require(bars.map(\.time).max())
      for bar in bars {
        #expect(abs(bar.width - max(0.5, bar.time / longest * 100)) < 1, "\(bar)")
      }
    }
    let machine =
      "sed -n 's/^model name.*: //p' /proc/cpuinfo | sort | uniq -c; . /etc/os-release; echo $PRETTY_NAME"
    let facts = try run("/bin/sh", ["-c", machine]).output.split(separator: "\n")
    #expect(drawn.contains(facts.last ?? "?"))
    for processor in facts.dropLast() {
      let words = processor.split(separator: " ", maxSplits: 1)
      #expect(drawn.contains("\(words[1]), \(words[0]) cores"), "\(processor)")
    }
  }

  @Test(
    "help is one screen on standard output, with examples first",
    arguments: ["explain", "call", "doctor", "bench", "proxy", "journal", "tour"])
  func help(command: String) throws {
    let result = try Tool.run([command, "--help"])
    #expect(result.status == 0)
    #expect(result.output.hasPrefix("Example"))
    #expect(result.output.contains("Usage: forward \(command)"))
    let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 25 && lines.allSatisfy { $0.count <= 100 })
    #expect(try Tool.run(["help", command]).output == result.output)
    #expect(try Tool.run(["help"]).output.contains("forward \(command)"))
  }

  @Test(
    "output to a file or pipe has no colors, with NO_COLOR or without it", arguments: ["", "1"])
  func noColor(value: String) throws {
    for command in [["tour"], ["doctor"], ["explain", "v@:"]] {
      let result = try Tool.run(command, environment: ["NO_COLOR": value])
      #expect(!result.output.contains("\u{1B}"))
    }
  }
}
