// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Forwarding
  import Testing

  // These tests are built with warnings as errors: the code of the proxy has none.
  @Forwardable
  private protocol Aging: AnyObject {
    @available(*, deprecated, message: "call 'keep'") func store(_ number: Int)
    @available(*, deprecated) @Otherwise(0) var age: Int { get set }
    func keep(_ values: consuming [Int], from name: borrowing String)
    func count(_ values: consuming [Int]) async throws -> Int
  }

  private final class Keeper: Aging {
    var stored: [Int] = []
    var age = 1
    var names: [String] = []

    func store(_ number: Int) { stored.append(number) }
    func keep(_ values: consuming [Int], from name: borrowing String) {
      values.append(names.count)
      stored += values
      names.append(copy name)
    }
    func count(_ values: consuming [Int]) async throws -> Int { values.count }
  }

  @Suite("Arguments that a requirement consumes or borrows, and deprecated requirements")
  struct OwnershipTests {
    private let keepers = [Keeper(), Keeper()]
    private let all = Multicast<AgingProxy>()

    init() { for keeper in keepers { all.add(keeper) } }

    @Test("each target gets a consumed argument as the sender gave it")
    func consumed() async throws {
      all.proxy.keep([1, 2], from: "sender")
      for keeper in keepers { #expect(keeper.stored == [1, 2, 0] && keeper.names == ["sender"]) }
      #expect(try await all.proxy.count([4, 5, 6]) == 3)
    }

    @Test("a deprecated requirement is a message as any other")
    func deprecated() throws {
      _ = try all.messages.store.report(7)
      _ = try all.messages.setAge.report(30)
      for keeper in keepers { #expect(keeper.stored == [7] && keeper.age == 30) }
    }
  }
#endif
