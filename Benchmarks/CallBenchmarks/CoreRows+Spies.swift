// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTesting

// The cost of a spy in place of an object: calls are recorded with their arguments.
extension CoreRows {
  private struct Nobody: SpyReporter {
    func report(_ failure: SpyFailure) {}
  }

  /// Takes an object and text, where other rows take a word.
  private final class Box: MethodDeclaring {
    var count = 0

    static func declareMethods(_ methods: MethodDeclarations) {
      methods.register("box:text:") { (box: Box, _: Box, _: String) in box.count += 1 }
      methods.register("ask:") { (_: Box, value: Int) in value }
    }
  }

  static func spies() throws -> [Benchmark] {
    let plain = "send/message/closure"
    let keep = try Message<NoResult, Int>("keep:")
    let ask = try Message<Int, Int>("ask:")
    let send = try Message<NoResult, Box, String>("box:text:")
    let (box, text) = (Box(), "a text that is longer than fits a word")
    let spy = SpyProxy(reportingTo: Nobody())
    spy[ask].answer { $0 }
    return [
      Benchmark("spy/call/kept", over: plain) { count in
        spy.forgetCalls()
        for index in 0..<count { try keep(index, on: spy) }
      },
      Benchmark("send/message/answered") { count in
        for index in 0..<count { _ = try ask(index, on: box) }
      },
      Benchmark("spy/call/answered", over: plain) { count in
        spy.forgetCalls()
        for index in 0..<count { _ = try ask(index, on: spy) }
      },
      Benchmark("spy/values/plain") { count in
        for _ in 0..<count { try send(box, text, on: box) }
      },
      Benchmark("spy/values/kept", over: "spy/values/plain") { count in
        spy.forgetCalls()
        for _ in 0..<count { try send(box, text, on: spy) }
      },
    ]
  }
}
