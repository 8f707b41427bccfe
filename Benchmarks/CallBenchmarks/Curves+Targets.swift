// SPDX-License-Identifier: Apache-2.0
import Forwarding

// The growth of deliveries and changes with the number of targets.
extension Curves {
  static func targets() throws -> Curve {
    var curve = Curve(
      "One message to many targets", x: "targets", y: "ns for each target")
    let keep = try Message<NoResult, Int>("keep:")
    let numbers = [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000]
    for (name, strongly) in [("strong targets", true), ("weak targets", false)] {
      let points = try numbers.map { number in
        let targets = (0..<number).map { _ in NativeSubject() }
        let proxy = MulticastProxy()
        for target in targets { proxy.add(target, strongly: strongly) }
        let time = try withExtendedLifetime(targets) {
          try best(max(1, 3000 / number)) { count in
            for index in 0..<count { try keep(index, on: proxy) }
          }
        }
        return (x: Double(number), y: time / Double(number))
      }
      curve.lines.append((name, points))
    }
    for isWeak in [false, true] {
      let points = numbers.map { number in
        let targets = (0..<number).map { _ in Subject() }
        var closures: [(Int) -> Void] = []
        for target in targets {
          if isWeak {
            closures.append { [weak target] in target?.keep($0) }
          } else {
            closures.append { target.keep($0) }
          }
        }
        let time = withExtendedLifetime(targets) {
          best(max(1, 3000 / number)) { count in
            for index in 0..<count { for closure in closures { closure(index) } }
          }
        }
        return (x: Double(number), y: time / Double(number))
      }
      curve.lines.append((isWeak ? "[weak] closures" : "closures", points))
    }
    return curve
  }

  // MARK: Lists

  /// Operations on one of many targets, and on each of them.
  static func lists() throws -> Curve {
    var curve = Curve("A list of many targets", x: "targets", y: "ns for each target")
    let names = ["add", "deliver", "report", "remove a token", "remove a target", "contains"]
    curve.lines = names.map { ($0, []) }
    for number in [100, 1000, 10_000, 100_000, 1_000_000] {
      for (line, time) in try list(of: number).enumerated() {
        curve.lines[line].points.append((x: Double(number), y: time))
      }
    }
    return curve
  }

  /// The best times over some lists of one size, in the order of the lines.
  private static func list(of number: Int) throws -> [Double] {
    let keep = try Message<NoResult, Int>("keep:")
    let targets = (0..<number).map { _ in QuietSubject() }
    // Visits positions all over the list, because the two numbers have no common divisor.
    let order = (0..<number).map { $0 * 611_953 % number }
    var best = [Double](repeating: .infinity, count: 6)
    func time(_ line: Int, _ body: () throws -> Void) rethrows {
      let start = Runner.now()
      try body()
      best[line] = min(best[line], (Runner.now() - start) / Double(number))
    }
    for _ in 0..<max(2, 20_000 / number) {
      let proxy = MulticastProxy()
      var tokens: [MulticastProxy.Token] = []
      tokens.reserveCapacity(number)
      time(0) { for target in targets { tokens.append(proxy.add(target)) } }
      try keep(0, on: proxy)
      try time(1) { try keep(1, on: proxy) }
      try time(2) { _ = try keep.deliver(1, on: proxy) }
      time(5) { for index in order { _ = proxy.contains(targets[index]) } }
      time(3) { for index in order { proxy.remove(tokens[index]) } }
      for target in targets { proxy.add(target) }
      try keep(0, on: proxy)
      time(4) { for index in order { proxy.remove(targets[index]) } }
    }
    return best
  }
}
