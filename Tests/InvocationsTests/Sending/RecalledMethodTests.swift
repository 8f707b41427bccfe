// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Foundation
import Invocations
import Synchronization
import Testing
import TypeEncodings

/// An invocation caches the method that it found, and each send finds methods without a lock.
@Suite("Sends after a change of methods")
struct RecalledMethodTests {
  private class Lamp {}
  private final class Lantern: Lamp {}

  /// State that a method and its test share. All runs on one thread.
  private final class Shared: @unchecked Sendable {
    var isOn = false
    var wasAlive = false
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

  @Test("the next send finds what has changed, of a message and of a call that cached its method")
  func changed() throws {
    let two: @Sendable (AnyObject) -> Int32 = { _ in 2 }
    let (lamps, lanterns) = (MethodTable.of(Lamp.self), MethodTable.of(Lantern.self))
    func expectTwo(_ selector: Selector, after change: (Invocation) throws -> Void) throws {
      let call = try warm(selector, Lantern()) { 1 }
      try change(call)
      try call.invoke()
      #expect(try call.result(as: Int32.self) == 2, "\(selector)")
      #expect(try Message<Int32>(#require(call.selector))(on: call.target) == 2, "\(selector)")
    }
    try expectTwo("recallReplaced") { _ in
      try lamps.register("recallReplaced", replacing: true, two)
    }
    try expectTwo("recallOverridden") { _ in try lanterns.register("recallOverridden", two) }
    try expectTwo("recallOne") { call in
      try lamps.register("recallTwo", two)
      try call.setSelector("recallTwo")
    }
    try expectTwo("recallClass") { call in
      final class Torch: Lamp {}
      try MethodTable.of(Torch.self).register("recallClass", two)
      try call.setTarget(Torch())
    }
    let call = try warm("recallMany", Lamp()) { 1 }
    let message = try Message<Int32>("recallMany")
    for round in 0..<20 as Range<Int32> {
      try lamps.register("recallMany", replacing: true) { (_: Lamp) -> Int32 in round }
      for _ in 0..<50 {
        #expect(try message(on: call.target) == round)
        try call.invoke()
        #expect(try call.result(as: Int32.self) == round)
      }
    }
    lamps.remove("recallMany")
    for _ in 0..<2 {
      #expect(throws: InvocationError.self) { try call.invoke() }
      #expect(throws: InvocationError.self) { try message(on: call.target) }
    }
  }

  @Test("an object from a C function is owned once, whether the function retains it or not")
  func objects() throws {
    final class Giver {}
    typealias Give = @convention(c) (UnsafeRawPointer, UnsafeRawPointer) -> UnsafeRawPointer
    let kept: Give = { receiver, _ in receiver }
    let given: Give = { receiver, _ in
      UnsafeRawPointer(Unmanaged<AnyObject>.fromOpaque(receiver).retain().toOpaque())
    }
    for (selector, function, isRetained) in [("kept", kept, false), ("given", given, true)] {
      try MethodTable.of(Giver.self).register(
        Selector(interning: selector), encoding: "@@:",
        unsafeFunction: unsafeBitCast(function, to: UnsafeRawPointer.self),
        returnsRetained: isRetained)
      let message = try Message<Giver>(Selector(interning: selector))
      weak var giver: Giver?
      do {
        let made = Giver()
        giver = made
        // The first send makes the method known.
        for _ in 0..<3 { #expect(try message(on: made) === made) }
        withExtendedLifetime(made) {}
      }
      #expect(giver == nil, "\(selector)")
    }
  }

  @Test("each of thousands of selectors and classes has its own method")
  func many() throws {
    final class One {}
    final class Two {}
    let selectors = try (0..<2000).map { try Selector(interning: "many\($0)") }
    for (index, selector) in selectors.enumerated() {
      try MethodTable.of(One.self).register(selector) { (_: One) -> Int in index }
      try MethodTable.of(Two.self).register(selector) { (_: Two) -> Int in -index }
    }
    let (one, two) = (One(), Two())
    for (index, selector) in selectors.enumerated() {
      let message = try Message<Int>(selector)
      #expect(try message(on: one) == index)
      #expect(try message(on: two) == -index)
    }
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
      let (table, dial, signature) = (MethodTable.of(Dial.self), Dial(), try MethodSignature("q@:"))
      let methods = try (0...200).map { round in
        try Implementation(method: { (_: Dial) -> Int in round })
      }
      let asked = Atomic(0)
      let changed = Atomic(0)
      table.replace("recallDial", methods[0])
      beginThread {
        for (round, method) in methods.enumerated().dropFirst() {
          while asked.load(ordering: .acquiring) < round {}
          table.replace("recallDial", method)
          changed.store(round, ordering: .releasing)
        }
      }
      for round in 1..<methods.count {
        var calls: [Invocation] = []
        asked.store(round, ordering: .releasing)
        while changed.load(ordering: .acquiring) < round {
          let call = try Invocation(signature, selector: "recallDial")
          for _ in 0..<2 { try call.invoke(on: dial) }
          if calls.count < 1000 { calls.append(call) }
        }
        for call in calls {
          try call.invoke(on: dial)
          let found = try call.result(as: Int.self)
          guard found == round else { fatalError("\(found) in round \(round)") }
        }
      }
    }
  }

  /// A concurrent test may be reading methods; it holds the old ones until it has finished.
  private func waits(for census: Census, _ step: () throws -> Void = {}) throws -> Bool {
    for _ in 0..<60_000 where census.alive > 0 {
      usleep(1000)
      try step()
    }
    return census.alive == 0
  }

  @Test("a method that replaces itself is retained while it runs")
  func replacesItself() throws {
    let (shared, census) = (Shared(), Census())
    let call: Invocation
    do {
      let witness = Tracked(in: census)
      call = try warm("recallItself", Lamp()) { [witness] in
        defer { withExtendedLifetime(witness) {} }
        guard shared.isOn else { return 1 }
        try MethodTable.of(Lamp.self).register("recallItself", replacing: true) {
          (_: Lamp) in Int32(2)
        }
        // Calls the new method inside the old one.
        for _ in 0..<3 { try shared.call?.invoke() }
        shared.wasAlive = census.alive == 1
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
    #expect(try waits(for: census) { try call.invoke() })
  }

  // In a separate process: a concurrent send of another thread would also hold the closure.
  @Test("a closure that is replaced is released at once, or when a call that has it ends")
  func releasing() async {
    await #expect(processExitsWith: .success) {
      let census = Census()
      let table = MethodTable.of(Lamp.self)
      let other = try Implementation { (_: Lamp) -> Int32 in 2 }
      let message = try Message<Int32>("value")
      func register() throws {
        let object = Tracked(in: census)
        try table.register("value", replacing: true) { (_: Lamp) -> Int32 in
          // During its own call the closure must stay.
          table.replace("value", other)
          return withExtendedLifetime(object) { census.alive == 1 ? 1 : 0 }
        }
      }
      try register()
      #expect(census.alive == 1)
      #expect(try message(on: Lamp()) == 1)
      #expect(census.alive == 0)
      try register()
      table.replace("value", other)
      #expect(census.alive == 0)
      var call: Invocation?
      do {
        let object = Tracked(in: census)
        call = try RecalledMethodTests().warm("recallEnds", Lamp()) {
          withExtendedLifetime(object) { 1 }
        }
      }
      table.remove("recallEnds")
      #expect(census.alive == 1)
      withExtendedLifetime(call) {}
      call = nil
      #expect(census.alive == 0)
    }
  }

  @Test("code that runs while a cached method is released cannot change the call that is sent")
  func releasedMethod() async {
    // Threads of other tests, which look for methods, would release the method later.
    await #expect(processExitsWith: .success) {
      let (lamp, lantern) = (Lamp(), Lantern())
      nonisolated(unsafe) var refused: (any Error)?
      try MethodTable.of(Lantern.self).register("recallFuse") { (_: Lantern) in Int32(3) }
      for changesTarget in [true, false] {
        let call: Invocation
        do {
          let fuse = Tracked()
          // Only the call retains the target.
          call = try RecalledMethodTests().warm("recallFuse", changesTarget ? Lamp() : lamp) {
            withExtendedLifetime(fuse) { 1 }
          }
          fuse.atEnd = { [weak call] in
            do {
              if changesTarget { try call?.setTarget(lantern) }
              for _ in 0..<3 where !changesTarget { try call?.invoke(on: lantern) }
            } catch { refused = error }
          }
        }
        try MethodTable.of(Lamp.self).register("recallFuse", replacing: true) { (_: Lamp) in
          Int32(2)
        }
        for _ in 0..<4 {
          try changesTarget ? call.invoke() : call.invoke(on: lamp)
          #expect(try call.result(as: Int32.self) == 2)
        }
        #expect(refused as? InvocationError == .argumentInUse(index: 0))
        refused = nil
      }
    }
  }

  @Test("a call that a proxy passes on keeps no method")
  func passedOn() throws {
    final class Door: MessageForwarding {
      let lamp = Lamp()
      func forward(_ invocation: Invocation) throws {
        for _ in 0..<4 { try invocation.invoke(on: lamp) }
      }
      func methodSignature(for selector: Selector) -> MethodSignature? {
        try? MethodSignature(method: "i@:")
      }
    }
    let census = Census()
    do {
      let witness = Tracked(in: census)
      _ = try warm("recallPassed", Lamp()) { withExtendedLifetime(witness) { 1 } }
    }
    let message = try Message<Int32>("recallPassed")
    let door = Door()
    for _ in 0..<4 { #expect(try message(on: door) == 1) }
    MethodTable.of(Lamp.self).remove("recallPassed")
    #expect(try waits(for: census))
  }
}
