// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations
import Testing

@Suite("The executors of awaited methods")
struct AwaitedPlaceTests {
  @MainActor
  @Test("targets without an actor run on the sender's actor, also concurrently")
  func isolation() async throws {
    let proxy = MulticastProxy()
    let kept = try (1...4).map { _ in
      let target = ClosureTarget()
      try target.register(
        "place",
        Implementation { (_: ClosureTarget) async -> Bool in
          let wasOnMain = isOnMain()
          await Task.yield()
          return wasOnMain && isOnMain()
        })
      proxy.add(target)
      return target
    }
    let place = try AsyncMessage<Bool>("place")
    #expect(try await place(on: kept[0]))
    #expect(try await place(on: MulticastProxy(one: kept[0])))
    #expect(try await place(on: proxy))
    for concurrently in [false, true] {
      let all = try await place.message.all(on: proxy, concurrently: concurrently)
      #expect(all == [true, true, true, true])
    }
    withExtendedLifetime(kept) {}
  }

  @MainActor
  @Test("synchronous methods run on the sender's actor, also concurrently")
  func isolationInPlace() async throws {
    let proxy = MulticastProxy()
    let target = ClosureTarget()
    try target.register("place") { isOnMain() }
    proxy.add(target)
    #expect(try await Message<Bool>("place").all(on: proxy, concurrently: true) == [true])
  }
}
