// SPDX-License-Identifier: Apache-2.0
import BenchmarkSubjects
import Dispatch
import Forwarding

// Messages to targets in lanes, in comparison with closures on a Dispatch queue; and callbacks.
extension CoreRows {
  static func lanes() throws -> [Benchmark] {
    try queuedMessages() + blockingMessages() + threeArguments()
  }

  /// A hundred messages to a target on a queue. The rows `value/queue-100/…` do the same with an
  /// object and a structure.
  private static func queuedMessages() throws -> [Benchmark] {
    let queue = DispatchQueue(label: "queued lane")
    let keep = try Message<NoResult, Int>("keep:")
    let baseline = "lane/queue-100/async"
    let target = Subject()
    var rows = [
      Benchmark(baseline) { count in
        for _ in 0..<count {
          queue.suspend()
          for index in 0..<100 { queue.async { target.keep(index) } }
          queue.resume()
          queue.sync {}
        }
      }
    ]
    for (how, strongly) in [("strong", true), ("weak", false)] {
      let target = Subject()
      let proxy = MulticastProxy()
      proxy.add(target, strongly: strongly, on: .queue(queue))
      rows.append(
        Benchmark("lane/queue-100/\(how)", over: baseline) { count in
          for _ in 0..<count {
            queue.suspend()
            for index in 0..<100 { try keep(index, on: proxy) }
            queue.resume()
            queue.sync {}
          }
          withExtendedLifetime(target) {}
        })
    }
    return rows
  }

  /// A target on a queue that the caller waits for.
  private static func blockingMessages() throws -> [Benchmark] {
    let queue = DispatchQueue(label: "blocking lane")
    let keep = try Message<NoResult, Int>("keep:")
    let target = Subject()
    var rows = [
      Benchmark("lane/blocking/sync") { count in
        for index in 0..<count { queue.sync { target.keep(index) } }
      }
    ]
    for (how, strongly) in [("strong", true), ("weak", false)] {
      let target = Subject()
      let proxy = MulticastProxy()
      proxy.add(target, strongly: strongly, on: .blocking(queue))
      rows.append(
        Benchmark("lane/blocking/\(how)", over: "lane/blocking/sync") { count in
          try withExtendedLifetime(target) {
            for index in 0..<count { try keep(index, on: proxy) }
          }
        })
    }
    return rows
  }

  /// A callback with three arguments.
  private static func threeArguments() throws -> [Benchmark] {
    let subject = Subject()
    let callback = try Callback { (a: Int, b: Int32, c: Int) in subject.keep(a &+ Int(b) &+ c) }
    let call = try unsafe callback.function(as: (@convention(c) (Int, Int32, Int) -> Void).self)
    return [
      Benchmark("callback/three/call", over: "closure/call/stored") { count in
        withExtendedLifetime(callback) { for index in 0..<count { call(index, 2, 3) } }
      }
    ]
  }
}
