// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import Testing
import TypeEncodings

@testable import Invocations

/// An invocation caches the method that it found.
@Suite("Recorded calls that are sent again")
struct RecalledMethodTests {
  private class Lamp {}
  private final class Lantern: Lamp {}

  /// An object whose lifetime a test observes.
  private final class Witness: Sendable {}

  /// State that a method and its test share. All runs on one thread.
  private final class Shared: @unchecked Sendable {
    var isOn = false
    var wasAlive = false
    weak var witness: Witness?
    weak var call: Invocation?
  }

  /// A call that was sent twice, so that its method is cached.
  private func warm(
    _ selector: Selector, _ target: AnyObject, _ body: @escaping @Sendable () throws -> Int32
  ) throws -> Invocation {
    try MethodTable.of(Lamp.self).register(selector, replacing: true) { (_: Lamp) in try body() }
    let call = try Invocation(MethodSignature("i@:"), selector: selector)
    try call.setTarget(target)
    try call.invoke()
    try call.invoke()
    return call
  }

  @Test("a call finds what has changed since it cached its method")
  func changed() throws {
    let two: @Sendable (AnyObject) -> Int32 = { _ in 2 }
    let (lamps, lanterns) = (MethodTable.of(Lamp.self), MethodTable.of(Lantern.self))
    let changes: [(Selector, (Invocation) throws -> Void)] = [
      ("recallReplaced", { _ in try lamps.register("recallReplaced", replacing: true, two) }),
      ("recallOverridden", { _ in try lanterns.register("recallOverridden", two) }),
      (
        "recallOne",
        {
          try lamps.register("recallTwo", two)
          try $0.setSelector("recallTwo")
        }
      ),
      (
        "recallClass",
        {
          final class Torch: Lamp {}
          try MethodTable.of(Torch.self).register("recallClass", two)
          try $0.setTarget(Torch())
        }
      ),
    ]
    for (selector, change) in changes {
      let call = try warm(selector, Lantern()) { 1 }
      try change(call)
      try call.invoke()
      #expect(try call.result(as: Int32.self) == 2, "\(selector)")
    }
    let call = try warm("recallRemoved", Lamp()) { 1 }
    _ = lamps.remove("recallRemoved")
    #expect(throws: InvocationError.self) { try call.invoke() }
  }

  private final class Dial: Sendable {}

  @Test(
    "a call finds the new method as soon as the change is complete, also after finding the old one")
  func replacedMeanwhile() async {
    await #expect(processExitsWith: .success) {
      // Makes a change of the table take a while, because it has many methods.
      let fillers = MethodTable.of(Lamp.self)
      for index in 0..<3000 {
        let selector = try Selector(interning: "recallFiller\(index)")
        try fillers.register(selector) { (_: Lamp) -> Int in index }
        try Invocation(MethodSignature("q@:"), selector: selector).invoke(on: Lamp())
      }
      let table = MethodTable.of(Dial.self)
      let rounds = 200
      let asked = Atomic(0)
      let changed = Atomic(0)
      let dial = Dial()
      let signature = try MethodSignature("q@:")
      table.replace("recallDial", try Implementation(method: { (_: Dial) -> Int in 0 }))
      let changer = Thread {
        for round in 1...rounds {
          while asked.load(ordering: .acquiring) < round {}
          guard let new = try? Implementation(method: { (_: Dial) -> Int in round }) else {
            exit(1)
          }
          table.replace("recallDial", new)
          changed.store(round, ordering: .releasing)
        }
      }
      changer.start()
      for round in 1...rounds {
        var calls: [Invocation] = []
        asked.store(round, ordering: .releasing)
        while changed.load(ordering: .acquiring) < round {
          let call = try Invocation(signature, selector: "recallDial")
          for _ in 0..<2 { try call.invoke(on: dial) }
          if calls.count < 1000 { calls.append(call) }
        }
        for call in calls {
          try call.invoke(on: dial)
          guard try call.result(as: Int.self) == round else { exit(2) }
        }
      }
    }
  }

  @Test("a method that replaces itself is retained while it runs")
  func replacesItself() throws {
    let shared = Shared()
    let call: Invocation
    do {
      let witness = Witness()
      shared.witness = witness
      call = try warm("recallItself", Lamp()) { [witness] in
        defer { withExtendedLifetime(witness) {} }
        guard shared.isOn else { return 1 }
        try MethodTable.of(Lamp.self).register("recallItself", replacing: true) {
          (_: Lamp) in Int32(2)
        }
        // Calls the new method inside the old one.
        for _ in 0..<3 { try shared.call?.invoke() }
        shared.wasAlive = shared.witness != nil
        return 3
      }
    }
    shared.call = call
    shared.isOn = true
    try call.invoke()
    #expect(shared.wasAlive)
    #expect(try call.result(as: Int32.self) == 3)
    for _ in 0..<3 { try call.invoke() }
    #expect(try call.result(as: Int32.self) == 2)
    // A test on another thread may hold the table of methods as it found it.
    for _ in 0..<10_000 where shared.witness != nil {
      usleep(1000)
      try call.invoke()
    }
    #expect(shared.witness == nil)
  }

  /// Runs a closure in its `deinit`.
  private final class Fuse: @unchecked Sendable {
    var onEnd: () -> Void = {}
    deinit { onEnd() }
  }

  @Test("a call retains its target while its cached method is released")
  func targetOutlivesMethod() throws {
    final class Seen { var error: (any Error)? }
    let seen = Seen()
    let call: Invocation
    do {
      let fuse = Fuse()
      // Only the call retains the target.
      call = try warm("recallFuse", Lamp()) { withExtendedLifetime(fuse) { 1 } }
      try call.invoke()
      fuse.onEnd = { [weak call] in
        do { try call?.setTarget(Lamp()) } catch { seen.error = error }
      }
    }
    try MethodTable.of(Lamp.self).register("recallFuse", replacing: true) { (_: Lamp) in Int32(2) }
    for _ in 0..<3 { try call.invoke() }
    #expect(seen.error as? InvocationError == .argumentInUse(index: 0))
    #expect(try call.result(as: Int32.self) == 2)
  }

  @Test("a call sent during the release of a method caches the right one")
  func sentWhileLettingGo() throws {
    let (lamp, lantern) = (Lamp(), Lantern())
    let call: Invocation
    do {
      let fuse = Fuse()
      call = try warm("recallNested", lamp) { withExtendedLifetime(fuse) { 1 } }
      fuse.onEnd = { [weak call] in for _ in 0..<3 { try? call?.invoke(on: lantern) } }
    }
    try MethodTable.of(Lantern.self).register("recallNested") { (_: Lantern) in Int32(3) }
    try MethodTable.of(Lamp.self).register("recallNested", replacing: true) { (_: Lamp) in Int32(2)
    }
    for _ in 0..<4 {
      try call.invoke(on: lamp)
      #expect(try call.result(as: Int32.self) == 2)
    }
  }

  @Test("a call releases its method when it is deallocated")
  func ends() throws {
    weak var seen: Witness?
    var call: Invocation?
    do {
      let witness = Witness()
      seen = witness
      call = try warm("recallEnds", Lamp()) { withExtendedLifetime(witness) { 1 } }
    }
    _ = MethodTable.of(Lamp.self).remove("recallEnds")
    #expect(seen != nil)
    withExtendedLifetime(call) {}
    call = nil
    #expect(seen == nil)
  }

  @Test("a call that a proxy passes on caches no method for the thread")
  func spare() throws {
    final class Door: MessageForwarding {
      let lamp = Lamp()
      func forward(_ invocation: Invocation) throws {
        for _ in 0..<4 { try invocation.invoke(on: lamp) }
      }
      func methodSignature(for selector: Selector) -> MethodSignature? {
        try? MethodSignature(method: "i@:")
      }
    }
    weak var seen: Witness?
    do {
      let witness = Witness()
      seen = witness
      _ = try warm("recallSpare", Lamp()) { withExtendedLifetime(witness) { 1 } }
    }
    let door = Door()
    let plan = try CallPlan.shared(for: MethodSignature("i@:"))
    for _ in 0..<4 { try plan.withCall { try $0.send(compared: "recallSpare", to: door) } }
    _ = MethodTable.of(Lamp.self).remove("recallSpare")
    // A concurrent test may be reading methods; it holds the old ones until it has finished.
    for _ in 0..<60_000 where seen != nil { usleep(1000) }
    #expect(seen == nil)
  }
}
