// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import Foundation
import InvocationText
import Invocations
import TypeEncodings

/// `forward doctor`: describes the libffi of this machine, and checks that calls are right.
enum DoctorCommand {
  static func run(_ options: Options) throws -> ExitCode {
    guard options.positional.isEmpty else { throw options.fault("doctor takes no arguments") }
    let checks = SelfChecks.all()
    if options.isJSON { showJSON(checks) } else { showText(checks) }
    return checks.allSatisfy(\.isPassed) ? .ok : .failed
  }

  private static func showText(_ checks: [SelfChecks.Outcome]) {
    show("This machine", [Terminal.table(facts().map { [$0, $1] }, indent: "  ")])
    let lines = checks.map { check in
      let mark = check.isPassed ? Terminal.styled("ok", .green) : Terminal.styled("FAILED", .red)
      return "  \(mark)  \(check.name)" + (check.isPassed ? "" : ": \(check.detail)")
    }
    show("Self-checks", lines)
    let failed = checks.count { !$0.isPassed }
    Terminal.out(
      failed == 0
        ? "All \(checks.count) checks passed."
        : "\(failed) of \(checks.count) checks failed; please report this, with all lines above.")
  }

  private static func show(_ title: String, _ lines: [String]) {
    Terminal.out(Terminal.styled(title, .bold) + "\n" + lines.joined(separator: "\n") + "\n")
  }

  private static func showJSON(_ checks: [SelfChecks.Outcome]) {
    let object: JSONValue = .object(
      facts().map { ($0.replacing(" ", with: "_"), JSONValue.string($1)) } + [
        (
          "checks",
          .array(
            checks.map {
              .object([
                ("name", .string($0.name)), ("passed", .bool($0.isPassed)),
                ("detail", .string($0.detail)),
              ])
            })
        ),
        ("ok", .bool(checks.allSatisfy(\.isPassed))),
      ])
    Terminal.out("\(object)")
  }

  // MARK: Facts

  private static func facts() -> [(String, String)] {
    [
      ("forward", Tool.version),
      ("platform", Machine.own.rawValue),
      ("libffi", libffi),
      (
        "engine",
        CallPlan.hasDirectEngine
          ? "direct"
          : "libffi: this platform's registers are not known to the direct engine"
      ),
      ("callback memory", callbackMemory),
    ]
  }

  /// The mappings of this process, according to the kernel.
  private static var maps: [Substring] {
    ((try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? "").split(separator: "\n")
  }

  /// The file of libffi, whose name has its version.
  private static var libffi: String {
    maps.lazy.compactMap { $0.split(separator: "/").last }.first { $0.hasPrefix("libffi") }
      .map(String.init) ?? "linked statically"
  }

  /// The mapping of the page with a callback's code, according to the kernel.
  private static var callbackMemory: String {
    guard let callback = try? Callback({ () -> Int32 in 0 }) else {
      return "none: callbacks do not work here"
    }
    let address = unsafe UInt(bitPattern: callback.address)
    defer { withExtendedLifetime(callback) {} }
    let line = maps.first { line in
      let range = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
      return range.count == 2 && (range[0]..<range[1]).contains(address)
    }
    guard let words = line?.split(separator: " "), words.count > 1 else { return "unknown" }
    let permissions = String(words[1])
    if permissions.contains("w"), permissions.contains("x") {
      return permissions + ", writable and executable (libffi's closures)"
    }
    let isOwn = fwd_callback_code() == .trampolines
    return permissions + (isOwn ? ", a page of this program's own file" : " (libffi's closures)")
  }
}
