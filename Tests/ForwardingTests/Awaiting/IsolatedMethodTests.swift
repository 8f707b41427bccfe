// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Invocations
import Testing

@MainActor
private final class Window {
  var lines: [String] = []
}

private let prepared: Void = {
  try! MethodTable.of(Window.self).register("show:", on: MainActor.self) {
    (window: Window, line: String) in
    window.lines.append(line)
    return window.lines.count
  }
  try! MethodTable.of(Window.self).register("draft:", on: MainActor.self) {
    (window: Window, draft: Draft) in
    window.lines.append(draft.text)
  }
  try! MethodTable.of(Window.self).register("slowly:", on: MainActor.self) {
    (window: Window, line: String) in
    await Task.yield()
    window.lines.append(line)
    return isOnMain()
  }
}()

private actor Bank {
  var total = 0

  func tell(_ message: Message<Int, Int>, _ amount: Int) throws -> Int {
    try message(amount, on: self)
  }

  static let prepared: Void = {
    try! MethodTable.of(Bank.self).register("add:") { (bank: isolated Bank, amount: Int) in
      bank.total += amount
      return bank.total
    }
    try! MethodTable.of(Bank.self).register("slowly:") { (bank: isolated Bank, amount: Int) in
      let before = bank.total
      await Task.yield()
      bank.total = before + amount
      return CurrentExecutor.isThat(of: bank)
    }
  }()
}

private let show = try! AsyncMessage<Int, String>("show:")
private let add = try! AsyncMessage<Int, Int>("add:")

private func refusal(
  _ selector: Selector, of target: Any.Type, _ remedy: IsolationRemedy
) -> ForwardingError {
  .wrongIsolation(.init(selector: selector, target: target), remedy)
}

@Suite("Isolated methods")
struct IsolatedMethodTests {
  init() {
    prepared
    Bank.prepared
  }

  @MainActor
  @Test("a send on the method's actor calls it in place, with values that are not Sendable")
  func inPlace() async throws {
    let (window, draft) = (Window(), Draft())
    draft.text = "one"
    #expect(try show.message("hello", on: window) == 1)
    try Message<Void, Draft>("draft:")(draft, on: window)
    try await AsyncMessage<Void, Draft>("draft:")(draft, on: window)
    #expect(window.lines == ["hello", "one", "one"])
    #expect(try await Bank().tell(add.message, 5) == 5)
  }

  @Test("a send from elsewhere is refused without a trap, on tasks and threads")
  func elsewhere() async {
    let window = Window()
    let error = refusal("show:", of: Window.self, .awaiting)
    #expect(throws: error) { try show.message("hello", on: window) }
    let result = await withCheckedContinuation { continuation in
      beginThread {
        continuation.resume(returning: Swift.Result { try show.message("hello", on: window) })
      }
    }
    #expect(throws: error) { try result.get() }
    #expect(throws: refusal("add:", of: Bank.self, .awaiting)) {
      try add.message(5, on: Bank())
    }
    await #expect(throws: refusal("draft:", of: Window.self, .lane)) {
      try await AsyncMessage<Void, Draft>("draft:")(Draft(), on: window)
    }
  }

  @Test("an awaited send changes to the actor, and an async method returns to it")
  func hops() async throws {
    let (window, bank) = (Window(), Bank())
    #expect(try await show("hello", on: window) == 1)
    #expect(await window.lines == ["hello"])
    #expect(try await AsyncMessage<Bool, String>("slowly:")("hello", on: window))
    #expect(try await add(5, on: bank) == 5)
    #expect(try await add(6, on: bank) == 11)
    #expect(try await AsyncMessage<Bool, Int>("slowly:")(5, on: bank))
  }

  @Test("sixteen tasks send to one actor, and no change is lost")
  func tasks() async throws {
    let bank = Bank()
    await withThrowingTaskGroup { group in
      for _ in 0..<16 {
        group.addTask { for _ in 0..<100 { try await add(1, on: bank) } }
      }
    }
    #expect(await bank.total == 1600)
  }

  @Test("a closure target answers on the main actor")
  func closure() async throws {
    let target = ClosureTarget()
    try target.register("isMain", on: MainActor.self) { isOnMain() }
    #expect(try await AsyncMessage<Bool>("isMain")(on: target))
    #expect(throws: refusal("isMain", of: ClosureTarget.self, .awaiting)) {
      try Message<Bool>("isMain")(on: target)
    }
  }

  @Test("values that are sent to an actor live as long as they are used")
  func lifetimes() async throws {
    actor Vault {
      var last: Counted?
      static let prepared: Void = {
        try! MethodTable.of(Vault.self).register("swap:") {
          (vault: isolated Vault, value: Counted?) in
          defer { vault.last = value }
          return vault.last
        }
      }()
    }
    Vault.prepared
    let log = Log()
    let swap = try AsyncMessage<Counted?, Counted?>("swap:")
    let vault = Vault()
    _ = try await swap(Counted(log), on: vault)
    #expect(alive(log) == 1)
    _ = try await swap(Counted(log), on: vault)
    #expect(alive(log) == 1)
    _ = try await swap(nil, on: vault)
    #expect(alive(log) == 0)
  }
}
