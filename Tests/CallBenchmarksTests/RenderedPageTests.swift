// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import TestedBenchmarks

@Suite("The page in a real browser", .enabled(if: Browser.path != nil, "\(Browser.missing)"))
struct RenderedPageTests {
  /// The browser is started once for all tests.
  private static let rendered = Result { try Browser.render(Report.fixed().page) }

  private func screens() throws -> [Rendering] { try Self.rendered.get() }

  /// The three charts at the top of the page, on each screen.
  private func openings() throws -> [[Rendering.Chart]] {
    try screens().map { Array($0.charts.prefix(3)) }
  }

  @Test("the page is shown in light and dark mode, narrow and wide")
  func shown() throws {
    #expect(try screens().map(\.isDark) == [false, false, true, true])
    #expect(try screens().map(\.width) == [360, 1200, 360, 1200])
  }

  @Test("the page begins with three comparisons in order")
  func order() throws {
    for charts in try openings() {
      #expect(charts.map(\.title) == ["Record and call", "Sixteen targets", "C call forwarded"])
      #expect(charts.map(\.top) == charts.map(\.top).sorted())
      #expect(charts.allSatisfy { !$0.bars.isEmpty })
    }
  }

  @Test(
    "the three charts are side by side on a wide screen, and one below the other on a narrow one")
  func places() throws {
    for (screen, charts) in zip(try screens(), try openings()) {
      #expect(Set(charts.map(\.top)).count == (screen.width == 360 ? 3 : 1))
    }
  }

  @Test("every measured way has a bar")
  func bars() throws {
    for charts in try openings() {
      for (chart, comparison) in zip(charts, Comparison.opening) {
        let ways = comparison.parts.flatMap(\.ways)
        #expect(Set(chart.bars.map(\.row)) == Set(ways.map(\.row)))
        #expect(chart.bars.count == ways.count)
        #expect(chart.bars.allSatisfy { $0.width >= 0.5 })
      }
    }
  }

  @Test("the length of a bar is proportional to its value")
  func lengths() throws {
    let report = Report.fixed()
    for charts in try openings() {
      for chart in charts {
        let bars = chart.bars.map { (value: report.row($0.row)?.minimum ?? .nan, width: $0.width) }
          .sorted { $0.value < $1.value }
        for (less, more) in zip(bars, bars.dropFirst()) where less.value < more.value {
          #expect(less.width < more.width, "\(less) and \(more) in \(chart.title)")
        }
      }
    }
  }

  @Test("a bar has its value as text")
  func values() throws {
    let report = Report.fixed()
    for bar in try openings().joined().flatMap(\.bars) {
      #expect(bar.value == "\(Report.text(report.row(bar.row)?.minimum ?? .nan)) ns")
    }
  }

  @Test("our ways are marked by a word and by a color that no other way has")
  func marks() throws {
    for charts in try openings() {
      let bars = charts.flatMap(\.bars)
      let (ours, others) = (bars.filter(\.isOurs), bars.filter { !$0.isOurs })
      #expect(charts.allSatisfy { $0.bars.contains(where: \.isOurs) })
      #expect(ours.allSatisfy { $0.name.hasPrefix("ours: ") })
      #expect(!others.contains { $0.name.hasPrefix("ours") })
      #expect(Set(ours.map(\.color)).count == 1)
      #expect(Set(ours.map(\.color)).isDisjoint(with: others.map(\.color)))
    }
  }

  @Test("a logarithmic axis is labelled as such")
  func axes() throws {
    let charts = try #require(try screens().first).charts
    for chart in charts.prefix(3) {
      #expect(chart.axes.contains { $0.contains("log scale, each line is ten times") })
    }
    #expect(
      charts[4].axes == [
        "ns for each; log scale, each line is a hundred times the one before", "targets, log scale",
      ])
    #expect(charts[5].axes == ["million sends a second", "threads, log scale"])
  }

  @Test("no text overlaps another, and none leaves its box")
  func texts() throws {
    for screen in try screens() {
      #expect(screen.overlapping.isEmpty)
      #expect(screen.overflowing.isEmpty)
      #expect(screen.pageWidth <= screen.width)
    }
  }

  @Test("text has a contrast of 4.5, and shapes of 3, in light and dark mode")
  func contrast() throws {
    for screen in try screens() {
      #expect(screen.faint.isEmpty)
      #expect(screen.textsCompared > 200)
      #expect(screen.drawnCompared > 60)
    }
  }

  @Test("each point of each curve is drawn inside its picture")
  func curves() throws {
    for screen in try screens() {
      let charts = screen.charts.dropFirst(Comparison.opening.count)
      #expect(charts.map(\.title) == Report.hardCurves.map(\.title))
      #expect(charts.map(\.points) == [39, 4, 70, 1, 3])
      #expect(charts.map(\.pieces) == [36, 2, 60, 0, 2])
      #expect(charts.map(\.outside) == [0, 0, 0, 0, 0])
    }
  }

  @Test("a picture has a text for screen readers, and a table")
  func said() throws {
    for chart in try screens().flatMap(\.charts) {
      #expect(chart.role == "img")
      #expect(chart.said.hasPrefix(chart.title + "\n"))
      #expect(chart.rowsOfTable > 0)
      for bar in chart.bars { #expect(chart.said.contains("\(bar.name) \(bar.value)")) }
    }
  }

  @Test("no name of a part is used twice")
  func names() throws {
    let ids = try #require(try screens().first).ids
    #expect(Set(ids).count == ids.count)
  }

  @Test("the recorded run is drawn")
  func recorded() throws {
    for screen in try Browser.render(Recorded.report().page) {
      #expect(screen.charts.count >= 3)
      #expect(screen.overlapping.isEmpty)
      #expect(screen.overflowing.isEmpty)
      #expect(screen.pageWidth <= screen.width)
      #expect(screen.charts.allSatisfy { $0.outside == 0 })
    }
  }
}
