// SPDX-License-Identifier: Apache-2.0
// The growth of the measured costs, as a table of a page.
extension RemoteGrowth {
  /// Takes the costs from the rows of a run; nil if rows are missing.
  ///
  /// A hundred calls at once keep both processors of the machine busy with sender, server and host
  /// together. The share of the sender and the host is the time of the same calls without a server,
  /// and of two messages handed to the system.
  public init?(_ report: Report) {
    func seconds(_ name: String, _ times: Double) -> Double? {
      report.row(name).map { $0.minimum / times / 1e9 }
    }
    guard let all = seconds("remote/nats/at-once-100", 100),
      let calls = seconds("remote/in-process/ask-100", 100),
      let write = seconds("nats/publish/bare-1000", 1000)
    else { return nil }
    let side = calls / 2 + write
    self.init(sender: side, host: side, server: max(2 * all - 2 * side, 0) / 4)
  }

  /// Deployments from a desk to a large site, as lines of a table in Markdown.
  public var table: String {
    let sizes: [(hosts: Int, targets: Int, calls: Double, senders: Int)] = [
      (3, 10, 10, 2), (10, 100, 10, 4), (10, 100, 100, 10), (100, 100, 100, 50),
      (1000, 100, 10, 200), (1000, 1000, 10, 1000), (100_000, 10, 1, 1000),
    ]
    var lines = [
      "| hosts | objects of each | calls of each object | calls in a second | first at its end | used | 99th of a call | with what helps |",
      "|---|---|---|---|---|---|---|---|",
    ]
    for size in sizes {
      var growth = self
      (growth.hosts, growth.targets, growth.callsOfEach) = (size.hosts, size.targets, size.calls)
      growth.senders = size.senders
      let (part, use) = growth.first
      var cells = [
        "\(size.hosts)", "\(size.targets)", Self.text(size.calls), Self.text(growth.calls),
        part.rawValue, Self.percent(use), growth.ninetyNinth,
      ]
      if use > 0.7 {
        growth.help(part)
        cells.append(
          "\(growth.helped(part)): \(Self.percent(growth.first.use)), \(growth.ninetyNinth)")
      } else {
        cells.append("")
      }
      lines.append("| " + cells.joined(separator: " | ") + " |")
    }
    return lines.joined(separator: "\n")
  }

  /// Adds as much of a part as brings its utilization to two thirds.
  private mutating func help(_ part: Part) {
    let times = (use(of: part) * 1.5).rounded(.up)
    switch part {
    case .senders: senders *= Int(times)
    case .hosts: hosts *= Int(times)
    case .server, .network, .connections: servers *= Int(times)
    }
  }

  private func helped(_ part: Part) -> String {
    switch part {
    case .senders: "\(senders) senders"
    case .hosts: "\(hosts) hosts"
    case .server, .network, .connections: "\(servers) servers"
    }
  }

  private var ninetyNinth: String {
    guard first.use < 1 else { return "grows" }
    return Self.text(simulate(calls: 20_000).ninetyNinth * 1e6) + " µs"
  }

  private static func percent(_ use: Double) -> String { "\(Int((use * 100).rounded()))%" }

  /// A number with two significant digits.
  private static func text(_ number: Double) -> String {
    var number = number
    var unit = 1.0
    while number >= 100 {
      number /= 10
      unit *= 10
    }
    let digits = Int(number.rounded() * unit)
    var text = ""
    for (index, digit) in String(digits).reversed().enumerated() {
      if index > 0, index % 3 == 0 { text = "," + text }
      text = String(digit) + text
    }
    return text
  }
}
