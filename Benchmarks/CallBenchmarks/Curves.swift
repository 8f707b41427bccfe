// SPDX-License-Identifier: Apache-2.0
import BenchmarkSubjects
import Forwarding

/// Charts of growing costs.
public enum Curves {
  /// Measures all charts.
  public static func all() throws -> [Curve] {
    try CoreRows.register()
    return [
      try targets(), try lists(), try selectors(), try signatures(), try threads(), try lanes(),
      try journals(),
      try syncs(), try steps(),
    ]
  }

  /// The best of 15 rounds, in nanoseconds for one repetition.
  static func best(_ count: Int, _ body: (Int) throws -> Void) rethrows -> Double {
    try body(count)
    var best = Double.infinity
    for _ in 0..<15 {
      let start = Runner.now()
      try body(count)
      best = min(best, (Runner.now() - start) / Double(count))
    }
    return best
  }

  // MARK: Selectors

  static func selectors() throws -> Curve {
    var curve = Curve("Methods of one class", x: "selectors", y: "ns for a message")
    let subject = Subject()
    let table = MethodTable.of(Subject.self)
    let method = try Implementation { (subject: Subject, value: Int) in subject.keep(value) }
    let keep = try Message<NoResult, Int>("keep:")
    var one: [(x: Double, y: Double)] = []
    var many: [(x: Double, y: Double)] = []
    var registered = 0
    for number in [10, 100, 1000, 10_000, 100_000, 1_000_000] {
      while registered < number {
        try table.register(Selector(interning: "growing\(registered):"), method)
        registered += 1
      }
      one.append(
        (
          Double(number),
          try best(5000) { count in for index in 0..<count { try keep(index, on: subject) } }
        ))
      // Eight messages in turn, from all over the table.
      let eight = try (0..<8).map {
        try Message<NoResult, Int>(Selector(interning: "growing\($0 * (number / 10)):"))
      }
      many.append(
        (
          Double(number),
          try best(5000) { count in
            for index in 0..<count { try eight[index & 7](index, on: subject) }
          }
        ))
    }
    curve.lines = [("one message, again and again", one), ("eight messages in turn", many)]
    return curve
  }

  // MARK: Signatures

  static func signatures() throws -> Curve {
    var curve = Curve("Distinct signatures", x: "signatures", y: "ns")
    var parsing: [(x: Double, y: Double)] = []
    var invoking: [(x: Double, y: Double)] = []
    let letters = Array("cCsSiIqQfd")
    var calls: [Invocation] = []
    let code = unsafe subject_address(.keepObject)
    for _ in 0..<1000 { _ = try MethodSignature(parsing: "v@:@iid") }
    for number in [10, 100, 1000, 10_000, 100_000] {
      let texts = (calls.count..<number).map { index in
        var text = "v@:@"
        var rest = index
        for _ in 0..<5 {
          text.append(letters[rest % 10])
          rest /= 10
        }
        return text
      }
      var parsed: [MethodSignature] = []
      let time = try best(1) { _ in parsed = try texts.map { try MethodSignature(parsing: $0) } }
      parsing.append((Double(number), time / Double(texts.count)))
      for signature in parsed { calls.append(try Invocation(CallPlan(signature))) }
      let eight = (0..<8).map { calls[$0 * (number / 10)] }
      invoking.append(
        (
          Double(number),
          try best(5000) { count in
            for index in 0..<count { unsafe try eight[index & 7].invoke(using: code) }
          }
        ))
    }
    curve.lines = [("parse one", parsing), ("invoke, eight plans in turn", invoking)]
    return curve
  }
}
