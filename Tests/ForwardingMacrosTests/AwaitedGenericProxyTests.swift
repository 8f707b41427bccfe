// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Testing

@Forwardable
protocol Feeding<Food>: AnyObject {
  associatedtype Food: Sendable
  func feed(_ food: Food, _ again: Food) async -> Food?
  func trade(_ food: Food) async throws -> (Food, [Food])
}

/// Suspends between the two values, so that allocations of the task exist at that time.
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
}

/// A value whose size is unknown in code that is not specialized.
private struct Large<Value: Sendable & Equatable>: Sendable, Equatable {
  var values: (Value, Value, Value, Value)
  init(_ value: Value) { values = (value, value, value, value) }
  static func == (one: Self, other: Self) -> Bool { one.values == other.values }
}

@Suite("Awaited proxies with type parameters")
struct AwaitedGenericProxyTests {
  /// Generic code that is not specialized for the type.
  @inline(never)
  private func feed<Food: Sendable & Equatable>(_ food: Food, _ other: Food) async throws -> Bool {
    let many = Multicast<FeedingProxy<Food>>()
    let cats = (0..<3).map { _ in Cat<Food>() }
    for cat in cats { many.add(cat) }
    var isRight = true
    for _ in 0..<20 {
      isRight = await many.proxy.feed(food, other) == other && isRight
      let (one, both) = try await many.proxy.trade(food)
      isRight = one == food && both == [food, food] && isRight
    }
    return withExtendedLifetime(cats) { isRight }
  }

  @Test("values of any size are kept apart from the allocations of the task")
  func sizes() async throws {
    #expect(try await feed(1, 2))
    #expect(try await feed("one", "another one that is long enough"))
    #expect(try await feed(Large(1), Large(2)))
    #expect(try await feed(Large(Large("a")), Large(Large("b"))))
    #expect(try await feed([Large(1.5)], [Large(2.5), Large(3)]))
  }
}
