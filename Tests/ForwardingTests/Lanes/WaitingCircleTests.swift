// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingTestSupport
import Testing

@testable import Forwarding

@Suite("A removal that waits on the queue of a blocking lane")
struct WaitingCircleTests {
  @Test("it is refused there, and in front of that queue; a delivery may wait for the queue")
  func refused() throws {
    let queue = DispatchQueue(label: "both wait")
    let front = DispatchQueue(label: "in front", target: queue)
    let log = Log()
    let proxy = MulticastProxy()
    let first = Listener("first", log)
    let token = proxy.add(first)
    proxy.add(Listener("second", log), strongly: true, on: .blocking(queue))
    // A lane of its own must not hide the queue behind it.
    MulticastProxy().add(first, on: .queue(front))
    for place in [queue, front] {
      place.sync {
        let refusal = ForwardingError.wouldDeadlock(.init(selector: nil, target: Listener.self))
        _ = #expect(throws: refusal) { try proxy.removeAndWait(token) }
      }
    }
    try did(1, on: proxy)
    #expect(log.all == ["first 1", "second 1"])
    let other = DispatchQueue(label: "of no blocking lane")
    #expect(try other.sync { try proxy.removeAndWait(token) })
    #expect(try DispatchQueue.global().sync { try proxy.removeAndWait(token) } == false)
    withExtendedLifetime(first) {}
  }
}
