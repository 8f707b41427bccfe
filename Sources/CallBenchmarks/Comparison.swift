/// Ways to do one thing, ours and others', that are drawn in one chart.
struct Comparison {
  /// One way: what it is called in the chart, and the row that measures it.
  struct Way {
    let name: String
    let row: String
    /// The library that it needs, as ``Report/skipped`` names it.
    let library: String?
    let isOurs: Bool

    static func ours(_ name: String, _ row: String) -> Way {
      Way(name: "ours: " + name, row: row, library: nil, isOurs: true)
    }
    static func other(_ name: String, _ row: String, needs library: String? = nil) -> Way {
      Way(name: name, row: row, library: library, isOurs: false)
    }
  }

  /// Ways that do the same; the first of ours is the one that a table compares with.
  struct Part {
    let name: String
    let ways: [Way]
  }

  let title: String
  /// A few words that say what is done, and what the time is of.
  let what: String
  let unit: String
  /// What a reader must know to compare fairly.
  let note: String
  let parts: [Part]
}

extension Comparison {
  /// What the page opens with.
  static let opening = [recording, sixteen, forwarding]

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
    note: "Both forward to weakly held targets, and a handler of ours counts each call before.",
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
  /// A way that a report has a row of.
  struct Bar {
    let way: Way
    let time: Double
    /// The time over that of the first of our ways, where there is one.
    let times: Double?
  }

  /// The parts that a report has rows of, the fastest way first.
  func bars(in report: Report) -> [(name: String, bars: [Bar])] {
    parts.compactMap { part in
      let measured = part.ways.compactMap { way in
        report.row(way.row).flatMap { row -> (way: Way, time: Double)? in
          row.minimum > 0 && row.minimum.isFinite ? (way, row.minimum) : nil
        }
      }
      let ours = measured.first { $0.way.isOurs }?.time
      let bars = measured.map { way, time in
        Bar(way: way, time: time, times: ours.map { time / $0 })
      }
      return bars.isEmpty ? nil : (part.name, bars.sorted { $0.time < $1.time })
    }
  }

  /// A line for each reason why ways are not in the chart.
  func missing(in report: Report) -> [String] {
    var reasons: [(reason: String, names: [String])] = []
    for way in parts.flatMap(\.ways) where report.row(way.row) == nil {
      let reason =
        way.library.flatMap { library in report.skipped.first { $0.hasPrefix(library) } }
        ?? "not measured in this run"
      if let index = reasons.firstIndex(where: { $0.reason == reason }) {
        if !reasons[index].names.contains(way.name) {
          reasons[index].names.append(way.name)
        }
      } else {
        reasons.append((reason, [way.name]))
      }
    }
    return reasons.map { "\($0.names.joined(separator: ", ")): \($0.reason)" }
  }
}
