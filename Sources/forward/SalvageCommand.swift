// SPDX-License-Identifier: Apache-2.0
import ForwardingJournal

/// `forward journal --salvage OUT`: copies each intact call of a damaged journal to a new one, and
/// lists the losses.
enum SalvageCommand {
  static func run(_ path: String, to output: String, isJSON: Bool) throws -> ExitCode {
    let salvage = try Journal.salvage(path, to: output)
    Terminal.out(isJSON ? json(salvage) : text(salvage, output))
    return .ok
  }

  private static func text(_ salvage: JournalSalvage, _ output: String) -> String {
    var lines = [
      "\(counted(salvage.saved, "call")) of \(counted(salvage.files, "file")) in \(WireValue.visible(output))"
    ]
    if salvage.losses.isEmpty, salvage.missing.isEmpty {
      lines.append(Terminal.styled("nothing was left out", .green))
    }
    lines += salvage.losses.map { Terminal.styled("left out", .yellow) + "  \($0)" }
    lines += salvage.missing.map {
      let numbers =
        $0.count == 1 ? "call \($0.lowerBound)" : "calls \($0.lowerBound) to \($0.upperBound)"
      return Terminal.styled("missing", .yellow) + "   \(numbers)"
    }
    return lines.joined(separator: "\n")
  }

  private static func counted(_ count: Int, _ name: String) -> String {
    "\(count) \(name)\(count == 1 ? "" : "s")"
  }

  private static func json(_ salvage: JournalSalvage) -> String {
    let losses = salvage.losses.map {
      "{\"path\":\(WireValue.quoted($0.path)),\"offset\":\($0.offset),\"bytes\":\($0.bytes)"
        + ",\"reason\":\(WireValue.quoted("\($0.reason)"))}"
    }
    let missing = salvage.missing.map { "[\($0.lowerBound),\($0.upperBound)]" }
    return "{\"saved\":\(salvage.saved),\"files\":\(salvage.files)"
      + ",\"losses\":[\(losses.joined(separator: ","))]"
      + ",\"missing\":[\(missing.joined(separator: ","))]}"
  }
}
