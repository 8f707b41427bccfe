// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Forwarding
  import Testing

  /// A requirement that cannot be a message, with values whose size only its caller knows.
  @Forwardable
  protocol Finding: AnyObject, Sendable {
    func find<Value: Sendable>(_ value: Value) async -> Value?
    func choose<Value: Sendable>(_ value: Value, _ other: Value) async throws -> Value
    func pair<One: Sendable, Other: Sendable>(_ one: One, _ other: Other) async
      -> (One, Other)?
  }

  private final class Finder: Finding {
    func find<Value: Sendable>(_ value: Value) async -> Value? {
      await Task.yield()
      return value
    }
    func choose<Value: Sendable>(_ value: Value, _ other: Value) async throws -> Value {
      await Task.yield()
      if value is Never.Type { throw Lame(name: "finder") }
      return other
    }
    func pair<One: Sendable, Other: Sendable>(_ one: One, _ other: Other) async -> (One, Other)? {
      await Task.yield()
      return (one, other)
    }
  }

  @Suite("Awaited generic requirements", .timeLimit(.minutes(60)))
  struct AwaitedGenericTests {
    @inline(never)
    private func find<Value: Sendable & Equatable>(
      _ value: Value, _ proxy: any Finding, isThere: Bool
    ) async throws {
      #expect(await proxy.find(value) == (isThere ? value : nil))
      #expect(await proxy.pair(value, 7)?.0 == (isThere ? value : nil))
      if isThere {
        #expect(try await proxy.choose(value, value) == value)
      } else {
        await #expect(throws: (any Error).self) { try await proxy.choose(value, value) }
      }
    }

    @Test(
      "the answer may have any size, from a target or from the default", arguments: [true, false])
    func sizes(_ isThere: Bool) async throws {
      struct Large: Equatable, Sendable { var a = "a", b = 1.5, c = [1, 2], d = 4, e = "e", f = 6 }
      let targets = Multicast<FindingProxy>()
      if isThere {
        targets.add(Finder(), strongly: true)
        targets.add(Finder(), strongly: true)
      }
      let proxy = targets.proxy
      try await find(5, proxy, isThere: isThere)
      try await find("text", proxy, isThere: isThere)
      try await find(Large(), proxy, isThere: isThere)
      try await find([Large(), Large()], proxy, isThere: isThere)
      #expect(await targets.proxy.find(Large()) == (isThere ? Large() : nil))
      let single = SingleTarget<FindingProxy>(isThere ? Finder() : nil)
      _ = await single.proxy.find(Large())
    }
  }
#endif
