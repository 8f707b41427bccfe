// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingTesting
import Invocations
import Synchronization
import Testing

/// Counts its instances.
final class Counted: CallObject, Equatable {
  let counter: Counter
  init(_ counter: Counter) {
    self.counter = counter
    counter.add(1)
  }
  deinit { counter.add(-1) }
  static func == (one: Counted, other: Counted) -> Bool { one === other }

  final class Counter: Sendable {
    private let alive = Atomic(0)
    func add(_ count: Int) { alive.add(count, ordering: .relaxed) }
    var count: Int { alive.load(ordering: .relaxed) }
  }
}

/// A value that owns an object, too large to be passed in registers.
struct Parcel {
  var owner: Counted
  var text: String
  var numbers: [Int]
}

@Suite("Ownership of recorded values")
struct OwnershipTests {
  let counter = Counted.Counter()

  @Test("a spy owns recorded objects, strings and values, and releases them with its calls")
  func endsWithTheSpy() throws {
    var spy: SpyProxy? = SpyProxy()
    let send = try Message<NoResult, Counted?, String, Parcel?, Parcel>("send:text:maybe:parcel:")
    for number in 0..<100 {
      let parcel = Parcel(owner: Counted(counter), text: "\(number)", numbers: [number])
      let object = number % 2 == 0 ? Counted(counter) : nil
      try send(
        object, "a text that is longer than fits \(number)", number % 3 == 0 ? nil : parcel, parcel,
        on: spy)
    }
    #expect(counter.count == 150)
    do {
      let received = try #require(spy)[send].unchecked.received
      #expect(received.count == 100)
      #expect(received.map(\.1) == (0..<100).map { "a text that is longer than fits \($0)" })
      #expect(received.map(\.3.numbers) == (0..<100).map { [$0] })
      #expect(received.map { $0.2 == nil } == (0..<100).map { $0 % 3 == 0 })
      #expect(received.map { $0.0 == nil } == (0..<100).map { $0 % 2 == 1 })
    }
    #expect(counter.count == 150)
    spy?.forgetCalls()
    #expect(counter.count == 0)
    let last = Parcel(owner: Counted(counter), text: "", numbers: [])
    try send(nil, "", nil, last, on: spy)
    #expect(try #require(spy)[send].calls == 1)
    spy = nil
    withExtendedLifetime(last) { #expect(counter.count == 1) }
  }

  @Test("a deinit of a recorded value can use the spy, because no lock is held")
  func endUsesTheSpy() throws {
    final class Farewell: CallObject {
      let spy: SpyProxy
      let ended: Message<NoResult>
      init(_ spy: SpyProxy, _ ended: Message<NoResult>) { (self.spy, self.ended) = (spy, ended) }
      deinit { _ = try? ended(on: spy) }
    }
    let spy = SpyProxy()
    let ended = try Message<NoResult>("ended")
    let send = try Message<NoResult, Farewell>("send:")
    try send(Farewell(spy, ended), on: spy)
    spy.forgetCalls()
    #expect(spy[ended].calls == 1)
  }

  @Test("no call of many threads is lost")
  func threads() throws {
    let spy = SpyProxy()
    let send = try Message<NoResult, Int, String>("send:text:")
    let other = try Message<Int, Int>("ask:")
    spy[other].answer { $0 + 1 }
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<500 {
        _ = try? send(thread * 500 + number, "\(number)", on: spy)
        let answer = try? other(number, on: spy)
        if answer != number + 1 { Issue.record("answered \(answer as Int?)") }
        if number % 100 == 0 {
          spy[other].answer { $0 + 1 }
          _ = spy[send].calls
          _ = spy[send].received
        }
      }
    }
    #expect(spy[send].calls == 4000)
    #expect(Set(spy[send].received.map(\.0)) == Set(0..<4000))
    #expect(spy[other].calls == 4000)
  }

  @Test("any thread can wake waiters, for any number of waits")
  func manyWaits() async throws {
    let spy = SpyProxy()
    let send = try Message<NoResult, Int>("send:")
    try await withThrowingTaskGroup { group in
      for wanted in 1...20 {
        group.addTask {
          let isMet = try await spy[send].expect(times: wanted..., within: .seconds(300))
          #expect(isMet)
        }
      }
      for number in 1...20 {
        group.addTask { try send(number, on: spy) }
      }
      try await group.waitForAll()
    }
    #expect(spy[send].calls == 20)
  }
}
