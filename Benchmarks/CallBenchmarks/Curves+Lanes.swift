// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding

extension Curves {
  /// Sends per second through one proxy with four targets, or through a proxy for each thread, by
  /// one thread and by more.
  static func threads() throws -> Curve {
    var curve = Curve(
      "Threads that send", x: "threads", y: "million sends a second")
    for way in Senders.ways {
      let points = try [1, 2, 4, 8].map { number in
        (x: Double(number), y: 1000 / (try Senders.time(number, way)))
      }
      curve.lines.append((way.title, points))
    }
    return curve
  }

  /// One message to a target on each of several queues, until all have received it.
  static func lanes() throws -> Curve {
    var curve = Curve("One message to many lanes", x: "lanes", y: "ns for each lane")
    let keep = try Message<NoResult, Int>("keep:")
    let numbers = [1, 2, 4, 8, 16, 32, 64]
    var ours: [(x: Double, y: Double)] = []
    var theirs: [(x: Double, y: Double)] = []
    for number in numbers {
      let queues = (0..<number).map { DispatchQueue(label: "lane \($0)") }
      let targets = queues.map { _ in Subject() }
      let proxy = MulticastProxy()
      for (target, queue) in zip(targets, queues) { proxy.add(target, on: .queue(queue)) }
      let times = try withExtendedLifetime(targets) {
        (
          try best(max(1, 500 / number)) { count in
            for index in 0..<count {
              try keep(index, on: proxy)
              for queue in queues { queue.sync {} }
            }
          },
          best(max(1, 500 / number)) { count in
            for index in 0..<count {
              for (target, queue) in zip(targets, queues) { queue.async { target.keep(index) } }
              for queue in queues { queue.sync {} }
            }
          }
        )
      }
      ours.append((x: Double(number), y: times.0 / Double(number)))
      theirs.append((x: Double(number), y: times.1 / Double(number)))
    }
    curve.lines = [("a message to targets on queues", ours), ("queue.async for each", theirs)]
    return curve
  }
}
