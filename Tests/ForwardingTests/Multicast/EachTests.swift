// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingTestSupport
import Testing
@testable import Forwarding

private protocol Watcher: AnyObject {
  func saw(_ number: Int) throws
}

private final class Witness: Watcher, Sendable {
  let log: Log
  let name: String
  init(_ name: String, _ log: Log) { (self.name, self.log) = (name, log) }
  func saw(_ number: Int) throws {
    if name == "bad" { throw Failure(name: name) }
    log.add("\(name) \(number)")
  }
}

@Suite("Visiting the targets of a Swift type")
struct EachTests {
  let log = Log()
  let proxy = MulticastProxy()

  @Test("each target of the type is visited in order and on its lane, and others are left out")
  func visits() throws {
    let queue = DispatchQueue(label: "visits")
    let (one, two) = (Witness("one", log), Witness("two", log))
    proxy.add(two)
    proxy.add(one, priority: 1)
    proxy.add(ClosureTarget(), strongly: true)
    let later = Witness("later", log)
    queue.suspend()
    proxy.add(later, on: .queue(queue))
    try proxy.each((any Watcher).self) { try $0.saw(1) }
    #expect(log.all == ["one 1", "two 1"])
    queue.resume()
    queue.sync {}
    #expect(log.all == ["one 1", "two 1", "later 1"])
    withExtendedLifetime((one, two, later)) {}
  }

  @Test("a body that throws for one target is called for all, and then the error is thrown")
  func throwing() throws {
    let (bad, good) = (Witness("bad", log), Witness("good", log))
    proxy.add(bad)
    proxy.add(good)
    #expect(throws: Failure(name: "bad")) {
      try proxy.each((any Watcher).self) { try $0.saw(2) }
    }
    #expect(log.all == ["good 2"])
  }

  @Test("a visit uses up a registration for one message, unless the type is another one")
  func once() throws {
    let witness = Witness("once", log)
    proxy.add(witness, once: true)
    proxy.each(Listener.self) { _ in }
    #expect(proxy.count == 1)
    for _ in 0..<2 { try proxy.each((any Watcher).self) { try $0.saw(3) } }
    #expect(log.all == ["once 3"])
  }
}
