// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

@testable import TestedBenchmarks

/// The recorded run, whose figures the README shows.
enum Recorded {
  static func text() throws -> String {
    try String(
      contentsOf: Toolchain.package.appendingPathComponent("Benchmarks/Results/linux-x86_64.json"),
      encoding: .utf8)
  }

  static func report() throws -> Report {
    try JSONDecoder().decode(Report.self, from: Data(text().utf8))
  }
}

@Suite("The page of charts")
struct PageTests {
  @Test("the page loads no other resource, and runs no script")
  func isWhole() {
    let page = Report.fixed().page
    for word in ["http", "<script", "url(", "@import", "src=", "<link"] {
      #expect(!page.contains(word), "\(word)")
    }
  }

  @Test("special characters in names are escaped")
  func escaped() {
    let page = Report.fixed().page
    #expect(page.contains("a &lt;processor&gt; &amp; 2 cores"))
    #expect(page.contains("held &lt;targets&gt;"))
    #expect(!page.contains("<processor>"))
  }

  @Test("a missing library is listed with the reason, and the measured rows are drawn")
  func skipped() {
    let page = Report.fixed(without: ["GNUstep", "Qt"]).page
    #expect(page.contains("<li>GNUstep is not installed, so its rows are left out</li>"))
    #expect(
      page.contains(
        "<li>GNUstep is not installed, so its rows are left out: GNUstep: NSInvocation</li>"))
    #expect(
      page.contains(
        "<li>Qt is not installed, so its rows are left out: Qt: a signal with slots</li>"))
    #expect(!page.contains("data-row=\"qt/emit/16\""))
    #expect(page.contains("data-row=\"gobject/emit/16\""))
  }

  @Test("rows that were not measured and have no reason are listed")
  func unmeasured() {
    var report = Report.fixed()
    report.rows.removeAll { ["callback/object/call", "door/forward/1"].contains($0.name) }
    #expect(
      report.page.contains(
        "<li>Not measured in this run: ours: a Callback; "
          + "ours: forward(_:) (forwarded to one target)</li>"))
  }

  @Test("an empty report is a page without charts")
  func empty() {
    let page = Report(environment: [], rows: []).page
    #expect(!page.contains("<figure"))
    #expect(page.contains("<h1>"))
  }

  @Test("a chart compares with our first way in the same part")
  func times() throws {
    let parts = Comparison.opening[2].bars(in: try Recorded.report())
    let forwarded = try #require(parts.last)
    #expect(forwarded.bars.first?.times == 1)
    #expect(try #require(forwarded.bars.last?.times) > 5)
  }

  @Test("the recorded run has a row for each way of other libraries, and one of ours with it")
  func rows() throws {
    let report = try Recorded.report()
    for part in Comparison.opening.flatMap(\.parts) {
      for way in part.ways where !way.isOurs { #expect(report.row(way.row) != nil, "\(way.row)") }
      let ours = part.ways.filter(\.isOurs)
      #expect(ours.isEmpty || ours.contains { report.row($0.row) != nil }, "\(part.name)")
    }
  }

  @Test("a report decoded from its JSON equals the original")
  func json() throws {
    let report = try Recorded.report()
    let again = try JSONDecoder().decode(Report.self, from: Data(report.json.utf8))
    #expect(again.json == report.json)
    #expect(again.page == report.page)
    #expect(report.rows.count > 90)
    #expect(report.curves.count >= 4)
    #expect(report.environment.first?.name == "processor")
  }

  @Test("a time that could not be measured is written as null")
  func unknown() throws {
    let curve = Report(environment: [], rows: [], curves: Report.hardCurves)
    let again = try JSONDecoder().decode(Report.self, from: Data(curve.json.utf8))
    #expect(try #require(again.curves[3].lines.first?.points.last).y.isNaN)
    #expect(Report.text(.nan) == "–")
  }
}
