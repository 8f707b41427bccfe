// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingTestSupport
import Foundation
import Invocations
import Synchronization
import Testing

@testable import Forwarding

@Suite("Multicast: registrations and their options")
struct RegistrationTests {
  let log = Log()
  let proxy = MulticastProxy()

  // MARK: Tokens

  @Test("a token removes its registration, once, and nothing from another proxy")
  func tokens() {
    let (target, other) = (Listener("x", log), MulticastProxy())
    let (one, two) = (proxy.add(target), other.add(target))
    #expect(one != two && !proxy.remove(two) && !other.contains(one))
    #expect(two.remove() && !two.remove() && !other.contains(target))
    #expect(proxy.contains(target))
    proxy.remove(target)
    #expect(!one.remove())
  }

  // MARK: Removal

  final class Closing: MethodDeclaring, Sendable {
    let isClosed = Atomic(false)
    let late: Atomic<Int> = Atomic(0)
    static func declareMethods(_ methods: MethodDeclarations) {
      methods.register("did:") { (self: Closing, _: Int32) in
        if self.isClosed.load(ordering: .sequentiallyConsistent) {
          self.late.add(1, ordering: .relaxed)
        }
        // The rest of the method still belongs to a message that began before the removal.
        if self.isClosed.load(ordering: .sequentiallyConsistent) {
          self.late.add(1, ordering: .relaxed)
        }
      }
    }
  }

  @Test("after a removal that waits, no method begins or continues", arguments: ["here", "later"])
  func waiting(_ lane: String) {
    let proxy = proxy
    let late = Atomic(0)
    let removed = Atomic(0)
    let stop = Atomic(false)
    let queue = DispatchQueue(label: "removal that waits")
    let end = Date().addingTimeInterval(0.5)
    onThreads(4) { thread in
      while thread > 1, !stop.load(ordering: .relaxed) { _ = try? did(1, on: proxy) }
      while thread == 0, Date() < end || removed.load(ordering: .relaxed) == 0 {
        let target = Closing()
        let token = proxy.add(
          target, strongly: true, on: lane == "here" ? .caller : .queue(queue))
        Thread.sleep(forTimeInterval: 0.0001)
        if (try? proxy.removeAndWait(token)) == true { removed.add(1, ordering: .relaxed) }
        target.isClosed.store(true, ordering: .sequentiallyConsistent)
        Thread.sleep(forTimeInterval: 0.0001)
        late.add(target.late.load(ordering: .relaxed), ordering: .relaxed)
      }
      if thread == 0 { stop.store(true, ordering: .relaxed) }
    }
    queue.sync {}
    #expect(late.load(ordering: .relaxed) == 0)
    #expect(removed.load(ordering: .relaxed) > 0)
  }

  @Test("a removal that waits waits for the running method, and not for queued messages")
  func waitingForOne() throws {
    let (proxy, log) = (proxy, log)
    let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let target = ClosureTarget()
    try target.register("did:") { (_: Int32) in
      began.signal()
      goOn.wait()
      log.add("ended")
    }
    let token = proxy.add(target)
    let sender = Thread { _ = try? did(1, on: proxy) }
    sender.start()
    began.wait()
    beginThread(after: 0.05) { goOn.signal() }
    #expect(try proxy.removeAndWait(token))
    #expect(log.all == ["ended"])
    // On a queue that is suspended.
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    proxy.add(target, on: .queue(queue))
    let ticket = try #require(try proxy.deliver(did.invocation(2)).entries[0].ticket)
    let isOver = ends { try proxy.removeAndWait(target) }
    #expect(isOver)
    queue.resume()
    #expect(ticket.wait(timeout: .now() + 60).map { "\($0)" } == "removed")
    #expect(try proxy.removeAndWait(token) == false)
  }

  @Test("a removal that waits is refused inside a delivery, and removes nothing")
  func refusedInside() throws {
    let (proxy, log) = (proxy, log)
    let queue = DispatchQueue(label: "refused inside")
    for lane in [DeliveryLane.caller, .queue(queue), .blocking(queue)] {
      let target = ClosureTarget()
      try target.register("did:") { [weak target] (_: Int32) in
        guard let target else { return }
        do throws(ForwardingError) {
          try proxy.removeAndWait(target)
        } catch {
          let expected = ForwardingError.wouldDeadlock(
            .init(selector: nil, target: ClosureTarget.self))
          log.add(error == expected ? "refused" : "\(error)")
        }
      }
      let token = proxy.add(target, on: lane)
      let isOver = ends {
        try did(1, on: proxy)
        queue.sync {}
      }
      #expect(isOver)
      #expect(proxy.remove(token))
    }
    #expect(log.all == ["refused", "refused", "refused"])
  }
}
