// SPDX-License-Identifier: Apache-2.0
/// Several ways to do one thing, ours and others', in one chart.
struct Comparison {
  /// One way: its name in the chart, and the row that measures it.
  struct Way {
    let name: String
    let row: String
    /// The library that it needs, under its name in ``Report/skipped``.
    let library: String?
    let isOurs: Bool

    static func ours(_ name: String, _ row: String) -> Way {
      Way(name: "ours: " + name, row: row, library: nil, isOurs: true)
    }
    static func other(_ name: String, _ row: String, needs library: String? = nil) -> Way {
      Way(name: name, row: row, library: library, isOurs: false)
    }
  }

  /// Ways that do the same thing. A table compares all others with the first of ours.
  struct Part {
    let name: String
    let ways: [Way]
  }

  let title: String
  /// A few words for the operation, and the unit of its time.
  let what: String
  let unit: String
  /// The facts that a fair comparison depends on.
  let note: String
  let parts: [Part]
}

extension Comparison {
  /// The comparisons at the top of the page.
  static let opening = [recording, sixteen, forwarding, text]

  private static let recording = Comparison(
    title: "Record and call",
    what: "A call is recorded, and made.",
    unit: "nanoseconds for one call",
    note:
      "invoke() and NSInvocation find the method of the target; invoke(using:) and ffi_call are told it.",
    parts: [
      Part(
        name: "recorded anew, with three arguments",
        ways: [
          .ours("invoke()", "object/three-method/create-set3"),
          .ours("invoke(using:)", "object/three/create-set3"),
          .ours("on the stack, invoke(using:)", "scoped/three/create-set3"),
          .other("GNUstep: NSInvocation", "gnustep/three/create-set3", needs: "GNUstep"),
        ]),
      Part(
        name: "recorded once, three arguments set",
        ways: [
          .ours("invoke()", "invoke/three-method/set3"),
          .ours("invoke(using:)", "invoke/three/set3"),
          .other("libffi: ffi_call", "ffi/three/set3"),
          .other("GNUstep: NSInvocation", "gnustep/three/set3", needs: "GNUstep"),
        ]),
      Part(
        name: "recorded once, and made again",
        ways: [
          .ours("invoke()", "send/recorded/invoke"),
          .ours("invoke(using:)", "invoke/object/prepared"),
          .other("libffi: ffi_call", "ffi/object/call"),
          .other("GNUstep: NSInvocation", "gnustep/object/invoke", needs: "GNUstep"),
        ]),
      Part(
        name: "nothing recorded",
        ways: [.other("a stored closure", "closure/call/stored")]),
    ])

  private static let sixteen = Comparison(
    title: "Sixteen targets",
    what: "One number, sent to sixteen objects.",
    unit: "nanoseconds for all sixteen",
    note: "What the two notification centers post carries no number.",
    parts: [
      Part(
        name: "held weakly",
        ways: [
          .ours("methods in C", "multicast/weak/16"),
          .ours("methods in Swift", "multicast/closures-weak/16"),
          .ours("a face of a protocol", "value/face-number-weak/16"),
          .other("std::weak_ptr", "weak-ptr/call/16", needs: "Boost"),
          .other("[weak] closures", "closure/array-weak/16"),
          .other("Boost.Signals2: tracked slots", "boost/tracked/16", needs: "Boost"),
          .other("a delegate in weak boxes", "delegate/weak-boxes/16"),
        ]),
      Part(
        name: "held strongly, or not at all",
        ways: [
          .ours("methods in C", "multicast/strong/16"),
          .ours("methods in Swift", "multicast/closures/16"),
          .ours("a face of a protocol", "value/face-number-strong/16"),
          .other("closures in an array", "closure/array-strong/16"),
          .other("Qt: a signal with slots", "qt/emit/16", needs: "Qt"),
          .other("Boost.Signals2: a signal with slots", "boost/signal/16", needs: "Boost"),
          .other("GObject: a signal", "gobject/emit/16", needs: "GObject"),
          .other("GNUstep: NSNotificationCenter", "gnustep/notify/16", needs: "GNUstep"),
          .other("Foundation: NotificationCenter", "corelibs/notify/16"),
        ]),
    ])

  private static let forwarding = Comparison(
    title: "C call forwarded",
    what: "C calls, and does not know who answers.",
    unit: "nanoseconds for one call from C",
    note: "All targets are held weakly, and forward(_:) is overridden to count each call.",
    parts: [
      Part(
        name: "one handler answers",
        ways: [
          .ours("a Callback", "callback/object/call"),
          .other("libffi: ffi_closure", "ffi/closure/call"),
        ]),
      Part(
        name: "forwarded to one target",
        ways: [
          .ours("forward(_:)", "door/forward/1"),
          .other("GNUstep: forwardInvocation:", "gnustep/forward/1", needs: "GNUstep"),
        ]),
      Part(
        name: "forwarded to sixteen",
        ways: [
          .ours("forward(_:)", "door/forward/16"),
          .other("GNUstep: forwardInvocation:", "gnustep/forward/16", needs: "GNUstep"),
        ]),
    ])
}

extension Comparison {
  private static let text = Comparison(
    title: "Text to a C function",
    what: "strlen is called with text of 15 bytes.",
    unit: "nanoseconds for one call",
    note: "Python and Ruby are programs of their own; the time of their loop is in their numbers.",
    parts: [
      Part(
        name: "looked up once",
        ways: [
          .ours("TypedFunction", "text/strlen-15/typed"),
          .other("by hand: withCString", "text/strlen-15/by-hand"),
          .other("Python: ctypes", "text/python/ctypes", needs: "Python's ctypes"),
          .other("Python: cffi", "text/python/cffi", needs: "Python's cffi"),
          .other("Ruby: ffi", "text/ruby/ffi", needs: "Ruby's ffi"),
        ]),
      Part(
        name: "found by name at each call",
        ways: [
          .ours("FunctionTable.call", "text/strlen-15/call"),
          .ours("a message to an object", "text/message/c-function"),
        ]),
    ])
}

extension Comparison {
  /// A way that has a row in a report.
  struct Bar {
    let way: Way
    let time: Double
    /// The time divided by the time of our first way; nil if a report has none.
    let times: Double?
  }

  /// The time of a way; nil if a report has none that can be drawn.
  private func time(of way: Way, in report: Report) -> Double? {
    report.row(way.row).map(\.minimum).flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
  }

  /// The parts that have times in a report, with the fastest way first.
  func bars(in report: Report) -> [(name: String, bars: [Bar])] {
    parts.compactMap { part in
      let measured = part.ways.compactMap { way in
        time(of: way, in: report).map { (way: way, time: $0) }
      }
      let ours = measured.first { $0.way.isOurs }?.time
      let bars = measured.map { way, time in
        Bar(way: way, time: time, times: ours.map { time / $0 })
      }
      return bars.isEmpty ? nil : (part.name, bars.sorted { $0.time < $1.time })
    }
  }

  /// A line for each reason that ways are missing from the chart. If another part of the chart has
  /// a way of the same name, the part is named, too.
  func missing(in report: Report) -> [String] {
    let drawn = Set(bars(in: report).flatMap { $0.bars.map(\.way.name) })
    var reasons: [(reason: String, names: [String])] = []
    for part in parts {
      for way in part.ways where time(of: way, in: report) == nil {
        let reason =
          way.library.flatMap { library in report.skipped.first { $0.hasPrefix(library) } }
          ?? "Not measured in this run"
        let name = drawn.contains(way.name) ? "\(way.name) (\(part.name))" : way.name
        let index = reasons.firstIndex { $0.reason == reason } ?? reasons.count
        if index == reasons.count { reasons.append((reason, [])) }
        if !reasons[index].names.contains(name) { reasons[index].names.append(name) }
      }
    }
    return reasons.map { "\($0.reason): \($0.names.joined(separator: "; "))" }
  }
}
