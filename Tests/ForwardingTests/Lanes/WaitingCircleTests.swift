// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingTestSupport
import Foundation
import Testing

@testable import Forwarding

@Suite("A removal waiting on a queue that a delivery waits for")
struct WaitingCircleTests {
  let queue = DispatchQueue(label: "both wait")
  let log = Log()
  let proxy = MulticastProxy()
  let began = DispatchSemaphore(value: 0)
  let goOn = DispatchSemaphore(value: 0)

  /// Two targets: the first signals that the delivery has begun and waits, the second blocks.
  private func addTargets() throws -> MulticastProxy.Token {
    let (began, goOn, log) = (began, goOn, log)
    let first = ClosureTarget()
    try first.register("did:") { (_: Int32) in
      began.signal()
      goOn.wait()
    }
    let second = ClosureTarget()
    try second.register("did:") { (_: Int32) in log.add("second") }
    let token = proxy.add(first, strongly: true)
    proxy.add(second, strongly: true, on: .blocking(queue))
    return token
  }

  private static func text(_ body: () throws -> String) -> String {
    do { return try body() } catch { return "\(error as? ForwardingError == .wouldDeadlock)" }
  }

  @Test("the removal is refused if the delivery waits first")
  func deliveryFirst() throws {
    let (queue, log, proxy, began, goOn) = (queue, log, proxy, began, goOn)
    let token = try addTargets()
    let mark = QueueMark.of(queue)
    let isOver = ends {
      let delivery = Thread { log.add(Self.text { "\(try BlockingTests.outcomes(proxy))" }) }
      queue.sync {
        delivery.start()
        began.wait()
        goOn.signal()
        while !mark.isWaitedFor { Thread.sleep(forTimeInterval: 0.001) }
        log.add(Self.text { "removed \(try proxy.removeAndWait(token))" })
        log.add(proxy.contains(token) ? "there" : "gone")
      }
      while log.count < 4 { Thread.sleep(forTimeInterval: 0.001) }
    }
    #expect(isOver)
    #expect(log.all == ["true", "there", "second", #"["answered", "answered"]"#])
  }

  @Test("the delivery does not wait if the removal waits first, and waits again afterwards")
  func removalFirst() throws {
    let (queue, log, proxy, began, goOn) = (queue, log, proxy, began, goOn)
    let token = try addTargets()
    let isOver = ends {
      let delivery = Thread { log.add(Self.text { "\(try BlockingTests.outcomes(proxy))" }) }
      delivery.start()
      began.wait()
      queue.sync {
        // The registration ends when the removal begins to wait.
        beginThread {
          while proxy.contains(token) { Thread.sleep(forTimeInterval: 0.001) }
          goOn.signal()
        }
        log.add(Self.text { "removed \(try proxy.removeAndWait(token))" })
      }
      while log.count < 2 { Thread.sleep(forTimeInterval: 0.001) }
      log.add(Self.text { "\(try BlockingTests.outcomes(proxy))" })
    }
    #expect(isOver)
    #expect(
      Set(log.all.prefix(2)) == ["removed true", #"["answered", "wouldDeadlock"]"#])
    #expect(log.all.dropFirst(2) == ["second", #"["answered"]"#])
  }
}
