// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingTestSupport
import Invocations
@testable import Forwarding
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
  @Test("a send on the main actor calls a method of the main actor in place")
  func inPlace() throws {
    let window = Window()
    #expect(try show.message("hello", on: window) == 1)
    #expect(window.lines == ["hello"])
  }

  @Test("a send from other isolation is refused without a trap")
  func elsewhere() async {
    let window = Window()
    #expect(throws: refusal("show:", of: Window.self, .awaiting)) {
      try show.message("hello", on: window)
    }
  }

  @Test("a send from a thread outside all tasks is refused as well")
  func thread() async {
    let window = Window()
    let error = await withCheckedContinuation { continuation in
      beginThread {
        let result = Swift.Result { try show.message("hello", on: window) }
        continuation.resume(returning: result)
      }
    }
    #expect(throws: refusal("show:", of: Window.self, .awaiting)) { try error.get() }
  }

  @Test("an awaited send changes to the main actor")
  func hops() async throws {
    let window = Window()
    #expect(try await show("hello", on: window) == 1)
    #expect(await window.lines == ["hello"])
  }

  @Test("an async method of the main actor returns to it")
  func slowly() async throws {
    let window = Window()
    #expect(try await AsyncMessage<Bool, String>("slowly:")("hello", on: window))
  }

  @MainActor
  @Test("a value that is not Sendable is accepted if it is sent on the main actor")
  func staying() async throws {
    let (window, draft) = (Window(), Draft())
    draft.text = "one"
    try Message<Void, Draft>("draft:")(draft, on: window)
    try await AsyncMessage<Void, Draft>("draft:")(draft, on: window)
    #expect(window.lines == ["one", "one"])
  }

  @Test("a value that is not Sendable is not sent to the main actor from elsewhere")
  func notCrossing() async throws {
    let window = Window()
    await #expect(throws: refusal("draft:", of: Window.self, .lane)) {
      try await AsyncMessage<Void, Draft>("draft:")(Draft(), on: window)
    }
  }

  @Test("a synchronous send to an actor's method from outside is refused")
  func actorElsewhere() {
    #expect(throws: refusal("add:", of: Bank.self, .awaiting)) {
      try add.message(5, on: Bank())
    }
  }

  @Test("a send by the actor itself calls its method in place")
  func actorInPlace() async throws {
    #expect(try await Bank().tell(add.message, 5) == 5)
  }

  @Test("an awaited send changes to the actor")
  func actorHops() async throws {
    let bank = Bank()
    #expect(try await add(5, on: bank) == 5)
    #expect(try await add(6, on: bank) == 11)
  }

  @Test("an async method of an actor returns to it")
  func actorSlowly() async throws {
    #expect(try await AsyncMessage<Bool, Int>("slowly:")(5, on: Bank()))
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
