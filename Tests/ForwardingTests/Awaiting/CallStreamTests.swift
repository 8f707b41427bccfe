// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Invocations
import Testing

private let saved = try! Message<Void, Int, String>("saved:as:")
private let number = try! Message<NoResult, Int32>("number:")

@Suite("Streams of calls")
struct CallStreamTests {
  @Test("a stream has the arguments of each call, in order")
  func arguments() async throws {
    let proxy = MulticastProxy()
    let stream = proxy.calls(of: saved)
    try saved(1, "one", on: proxy)
    try saved(2, "two", on: proxy)
    proxy.removeAll()
    var found: [String] = []
    for await (id, name) in stream { found.append("\(id) \(name)") }
    #expect(found == ["1 one", "2 two"])
  }

  @Test("a stream ends with its proxy, and with its group")
  func proxyDies() async throws {
    var proxy: MulticastProxy? = MulticastProxy()
    let stream = try #require(proxy).calls(of: number)
    let grouped = try #require(proxy).calls(of: number, group: "page")
    proxy?.remove(group: "page")
    #expect(await grouped.first { _ in true } == nil)
    proxy = nil
    #expect(await stream.first { _ in true } == nil)
  }

  @Test(
    "a stream that is released, or read by a cancelled task, ends its registration; a loop that is left does not"
  )
  func streamDies() async throws {
    let proxy = MulticastProxy()
    var stream: AsyncStream<Int32>? = proxy.calls(of: number)
    #expect(proxy.count == 1)
    withExtendedLifetime(stream) {}
    stream = nil
    #expect(proxy.registrationCount == 0)
    do {
      let stream = proxy.calls(of: number)
      try number(7, on: proxy)
      for await value in stream {
        #expect(value == 7)
        break
      }
      #expect(proxy.count == 1)
      withExtendedLifetime(stream) {}
    }
    #expect(proxy.registrationCount == 0)
    let read = proxy.calls(of: number)
    let task = Task { for await _ in read {} }
    task.cancel()
    await task.value
    #expect(proxy.registrationCount == 0)
  }

  @Test("a policy keeps the newest calls")
  func buffering() async throws {
    let proxy = MulticastProxy()
    let stream = proxy.calls(of: number, buffering: .bufferingNewest(2))
    for value in 0..<5 { try number(Int32(value), on: proxy) }
    proxy.removeAll()
    #expect(await stream.reduce(into: []) { $0.append($1) } == [3, 4])
  }

  @Test("a stream works with other targets, and receives awaited messages")
  func beside() async throws {
    let log = Log()
    let proxy = MulticastProxy()
    let target = ClosureTarget()
    try target.register(
      "saved:as:",
      Implementation { (_: ClosureTarget, id: Int, _: String) async -> Void in
        await Task.yield()
        log.add("\(id)")
      })
    proxy.add(target)
    let stream = proxy.calls(of: saved)
    try await AsyncMessage(saved)(3, "three", on: proxy)
    #expect(log.all == ["3"])
    #expect(await stream.first { _ in true }?.1 == "three")
    withExtendedLifetime(target) {}
  }

  @Test("no call from sixteen threads is lost")
  func threads() async throws {
    let proxy = MulticastProxy()
    let stream = proxy.calls(of: number)
    onThreads(16) { index in
      for value in 0..<100 { try! number(Int32(index * 100 + value), on: proxy) }
    }
    proxy.removeAll()
    let found = await stream.reduce(into: Set<Int32>()) { $0.insert($1) }
    #expect(found.count == 1600)
  }

  @Test("calls that wait in a stream are released with it")
  func lifetimes() async throws {
    let log = Log()
    let keep = try Message<Void, Counted>("keep:")
    let proxy = MulticastProxy()
    do {
      let stream = proxy.calls(of: keep)
      try keep(Counted(log), on: proxy)
      #expect(alive(log) == 1)
      withExtendedLifetime(stream) {}
    }
    #expect(alive(log) == 0)
  }
}
