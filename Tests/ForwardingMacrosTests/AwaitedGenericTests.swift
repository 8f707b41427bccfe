// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Forwarding
  import Testing

  /// Values whose size only their caller knows: of the protocol's type, and of requirements that
  /// cannot be messages.
  @Forwardable
  private protocol Feeding<Food>: AnyObject, Sendable {
    associatedtype Food: Sendable
    func feed(_ food: Food, _ again: Food) async -> Food?
    func trade(_ food: Food) async throws -> (Food, [Food])
    func choose<Value: Sendable>(_ value: Value, _ other: Value) async throws -> Value
    func pair<One: Sendable, Other: Sendable>(_ one: One, _ other: Other) async
      -> (One, Other)?
  }

  /// Suspends between two values, so that allocations of the task exist at that time.
  private final class Cat<Food: Sendable>: Feeding {
    func feed(_ food: Food, _ again: Food) async -> Food? {
      async let first = food
      await Task.yield()
      let both = await (first, again)
      return both.1
    }
    func trade(_ food: Food) async throws -> (Food, [Food]) {
      await Task.yield()
      return (food, [food, food])
    }
    func choose<Value: Sendable>(_ value: Value, _ other: Value) async throws -> Value {
      await Task.yield()
      return other
    }
    func pair<One: Sendable, Other: Sendable>(_ one: One, _ other: Other) async -> (One, Other)? {
      await Task.yield()
      return (one, other)
    }
  }

  /// A value whose size is unknown in code that is not specialized.
  private struct Large<Value: Sendable & Equatable>: Sendable, Equatable {
    var values: (Value, Value, Value, Value)
    init(_ value: Value) { values = (value, value, value, value) }
    static func == (one: Self, other: Self) -> Bool { one.values == other.values }
  }

  @Suite("Awaited requirements with values of any size")
  struct AwaitedGenericTests {
    /// Generic code that is not specialized for the type.
    @inline(never)
    private func feed<Food: Sendable & Equatable>(
      _ food: Food, _ other: Food, _ targets: Multicast<FeedingProxy<Food>>
    ) async throws {
      let (proxy, isThere) = (targets.proxy, !targets.isEmpty)
      for _ in 0..<20 {
        #expect(await proxy.feed(food, other) == (isThere ? other : nil))
        #expect(await proxy.pair(food, 7)?.0 == (isThere ? food : nil))
        if isThere {
          let (one, both) = try await proxy.trade(food)
          #expect(one == food && both == [food, food])
          #expect(try await proxy.choose(food, other) == other)
        } else {
          await #expect(throws: (any Error).self) { _ = try await proxy.trade(food) }
          await #expect(throws: (any Error).self) { try await proxy.choose(food, other) }
        }
      }
    }

    /// With three targets, with one, and without any.
    private func feed<Food: Sendable & Equatable>(_ food: Food, _ other: Food) async throws {
      let many = Multicast<FeedingProxy<Food>>()
      for _ in 0..<3 { many.add(Cat<Food>(), strongly: true) }
      let single = SingleTarget<FeedingProxy<Food>>(Cat<Food>(), strongly: true)
      try await feed(food, other, many)
      try await feed(food, other, single)
      try await feed(food, other, Multicast())
    }

    @Test("they are kept apart from the allocations of the task")
    func sizes() async throws {
      try await feed(1, 2)
      try await feed("one", "another one that is long enough")
      try await feed(Large(1), Large(2))
      try await feed(Large(Large("a")), Large(Large("b")))
      try await feed([Large(1.5)], [Large(2.5), Large(3)])
    }
  }
#endif
