// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Forwarding
  import Testing

  @Forwardable
  private protocol Buttons {
    typealias Number = Int
    var onTap: (() -> Int)? { get set }
    @Otherwise({ 0 }) var onHold: () -> Int { get set }
    subscript(newValue: Int) -> String? { get set }
    func visit(_ body: ((Int) -> Void))
    func lend(_ list: borrowing [Int]) async
    func take(_ number: Self.Number) -> Self.Number?
    @Optional func wait(_ number: Int) async -> Int?
    func `press button`(`by hand` number: Int)
    var `last one`: Int? { get set }
  }

  private struct Panel: Buttons {
    var onTap: (() -> Int)?
    var onHold: () -> Int = { 1 }
    var names: [Int: String] = [:]
    var `last one`: Int?
    subscript(newValue: Int) -> String? {
      get { names[newValue] }
      set(name) { names[newValue] = name }
    }
    func visit(_ body: ((Int) -> Void)) { body(7) }
    func lend(_ list: borrowing [Int]) async { #expect(list.count == 2) }
    func take(_ number: Int) -> Int? { number + 1 }
    func wait(_ number: Int) async -> Int? { number + 2 }
    func `press button`(`by hand` number: Int) { #expect(number == 3) }
  }

  @Suite("Rare requirements")
  struct RareRequirementTests {
    @Test("rare requirements reach a value")
    func values() async throws {
      let panels = Multicast<ButtonsProxy>()
      panels.add(Panel())
      var proxy: any Buttons = panels.proxy
      proxy.onTap = { 5 }
      #expect(proxy.onTap?() == 5)
      proxy.onHold = { 6 }
      #expect(proxy.onHold() == 6)
      proxy[4] = "four"
      #expect(proxy[4] == "four")
      var seen = 0
      proxy.visit { seen += $0 }
      #expect(seen == 7)
      await proxy.lend([1, 2])
      #expect(proxy.take(1) == 2)
      #expect(await proxy.wait(1) == 3)
      proxy.`press button`(`by hand`: 3)
      proxy.`last one` = 8
      #expect(proxy.`last one` == 8)
      #expect(try panels.messages.take.all(4) == [5])
      #expect(try panels.messages.pressButtonByHand.report(3).answered == 1)
      #expect(try panels.messages.setLastOne.report(9).answered == 1)
      #expect(try panels.messages.lastOne.all() == [9])
      #expect(try panels.messages.setOnHold.report({ 10 }).answered == 1)
      #expect(proxy.onHold() == 10)
    }
  }
#endif
