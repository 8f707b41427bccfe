// SPDX-License-Identifier: Apache-2.0
import CallBenchmarks
import Foundation

/// The tables of the README and of the page on measuring, made from a run. A test compares them with the recorded run.
enum Readme {
  /// The rows of the table near the top of the README.
  private static let firstRows = [
    ("16 weak boxes, called with an object and a structure", "value/weak-boxes/16"),
    ("a face of 16 weak delegates, the same", "value/face-weak/16"),
    ("`NotificationCenter`, the same to 16", "corelibs/notify-values/16"),
    ("a stored closure", "closure/call/stored"),
    ("a recorded call, made again: `invoke()`", "send/recorded/invoke"),
    ("16 closures in an array", "closure/array-strong/16"),
    ("a message to 16 weak targets", "multicast/weak/16"),
  ]

  private static let rows = [
    ("16 weak boxes, called with an object and a structure", "value/weak-boxes/16"),
    ("16 `[weak]` closures, the same", "value/weak-closures/16"),
    ("`NotificationCenter`, the same to 16", "corelibs/notify-values/16"),
    ("a face of 16 weak delegates, the same", "value/face-weak/16"),
    ("a face of 16 strong delegates, the same", "value/face-strong/16"),
    ("a weak box, the same", "value/weak-boxes/1"),
    ("a face of one weak delegate, the same", "value/face-weak/1"),
    ("a typed message with a number", "value/send/number"),
    ("a typed message with an object", "value/send/object"),
    ("a typed message with text", "value/send/text"),
    ("a stored closure", "closure/call/stored"),
    ("a recorded call, made again: `invoke()`", "send/recorded/invoke"),
    ("the same, where the method is a C function", "send/recorded/c-function"),
    ("the same, at an address: `invoke(using:)`", "invoke/object/prepared"),
    ("three arguments set, and the call made", "invoke/three/set3"),
    ("a call recorded on the stack, made and forgotten", "scoped/three/create-set3"),
    ("a typed message to a C function", "send/message/c-function"),
    ("a typed message to a Swift closure", "send/message/closure"),
    ("`pow` through a pointer", "function/pow/pointer"),
    ("`pow`, looked up once", "function/pow/typed"),
    ("`pow` by name", "function/pow/call"),
    ("`ffi_call`", "ffi/object/call"),
    ("GNUstep's `NSInvocation`, invoked", "gnustep/object/invoke"),
    ("GNUstep's `NSInvocation`, made, set and invoked", "gnustep/three/create-set3"),
    ("16 closures in an array", "closure/array-strong/16"),
    ("16 `[weak]` closures in an array", "closure/array-weak/16"),
    ("a message to 16 strong targets", "multicast/strong/16"),
    ("a message to 16 weak targets", "multicast/weak/16"),
    ("a message to 16 targets, Swift closures as methods", "multicast/closures/16"),
    ("a message to 16 weak targets, with a report", "report/closures/16"),
    ("a call from C, forwarded to 16 weak targets", "door/forward/16"),
    ("16 `std::weak_ptr`", "weak-ptr/call/16"),
    ("a Qt signal with 16 slots", "qt/emit/16"),
    ("a Boost.Signals2 signal with 16 tracked slots", "boost/tracked/16"),
    ("a GObject signal with 16 handlers", "gobject/emit/16"),
    ("the usual Swift multicast delegate, 16", "delegate/weak-boxes/16"),
    ("`NotificationCenter`, 16 observers", "corelibs/notify/16"),
    ("GNUstep's `forwardInvocation:` to 16", "gnustep/forward/16"),
    ("100 times `queue.async`", "lane/queue-100/async"),
    ("100 messages to a target on a queue", "lane/queue-100/weak"),
    ("removed from and added to a dictionary of 1,000,000", "dictionary/remove-add/1000000"),
    ("removed from and added to a proxy of 1,000,000", "targets/remove-add-token/1000000"),
  ]

  /// Writes the tables between the markers of files. Each table has its place in one of them.
  static func write(_ report: Report, into paths: [String]) throws {
    let facts = report.environment.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
    let tables = [
      ("<!-- measured first:", table(report, firstRows)),
      ("<!-- measured:", table(report, rows) + "\n\n" + facts),
    ]
    var missing = tables.map(\.0)
    for path in paths {
      var text = try String(contentsOfFile: path, encoding: .utf8)
      for (mark, table) in tables {
        guard let begin = text.range(of: mark),
          let line = text[begin.upperBound...].firstIndex(of: "\n"),
          let end = text[line...].range(of: "<!-- end -->")
        else { continue }
        text.replaceSubrange(text.index(after: line)..<end.lowerBound, with: table + "\n")
        missing.removeAll { $0 == mark }
      }
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      print("wrote the tables into \(path)")
    }
    for mark in missing { print("no file has a place for the table \(mark)") }
  }

  private static func table(_ report: Report, _ rows: [(String, String)]) -> String {
    var lines = ["| what | row | ns | ratio |", "|---|---|---:|---:|"]
    for (what, name) in rows {
      guard let row = report.row(name) else { continue }
      let ratio = row.ratio.map { Report.text($0) } ?? ""
      lines.append("| \(what) | `\(name)` | \(Report.text(row.minimum)) | \(ratio) |")
    }
    return lines.joined(separator: "\n")
  }
}
