// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import CForwardingShims
import Forwarding
import ForwardingTestSupport
import Foundation
import Synchronization
import Testing
@testable import Invocations

/// Reports whether it is alive.
private final class Watched: Sendable {
  private final class Flag: Sendable { let isAlive = Atomic(true) }
  private let flag = Flag()
  var isAlive: @Sendable () -> Bool { { [flag] in flag.isAlive.load(ordering: .acquiring) } }
  deinit { flag.isAlive.store(false, ordering: .releasing) }
}

@Suite("A C method that jumps out of its call")
struct JumpTests {
  private static func jumper() throws -> Counter {
    try unsafe MethodTable.of(Counter.self).register(
      "jump", encoding: "v@:",
      unsafeFunction: unsafeBitCast(
        fixture_jump as @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void,
        to: UnsafeRawPointer.self))
    return Counter()
  }

  @Test("a thousand jumps out of a plain send leave room for the next one")
  func sends() async {
    await #expect(processExitsWith: .success) {
      try registerTick()
      let target = try Self.jumper()
      let jump = try Message<NoResult>("jump")
      for _ in 0..<1000 { require(catchJump { _ = try? jump(on: target) }) }
      try useEverything(MulticastProxy(), 0)
    }
  }

  @Test("a thousand jumps out of a multicast leave it able to deliver")
  func multicasts() async {
    await #expect(processExitsWith: .success) {
      try registerTick()
      let target = try Self.jumper()
      let proxy = MulticastProxy()
      proxy.add(target, strongly: true)
      let jump = try Message<NoResult>("jump")
      for _ in 0..<1000 { require(catchJump { _ = try? jump(on: proxy) }) }
      try useEverything(proxy, 0)
      try Message<NoResult, Int32>("tick:")(1, on: proxy)
      let count = target.count.load(ordering: .relaxed)
      require(count == 3, "count \(count)")
    }
  }

  @Test("an invocation can be sent through the same proxy again after a jump")
  func again() async {
    await #expect(processExitsWith: .success) {
      let target = try Self.jumper()
      let proxy = MulticastProxy()
      proxy.add(target, strongly: true)
      let call = try Message<NoResult>("jump").invocation()
      try call.setTarget(proxy)
      for _ in 0..<3 { require(catchJump { try? call.invoke() }) }
    }
  }

  @Test("a callback whose body catches a jump is released like any other", arguments: [0, 1])
  func caught(prefersLibffi: Int32) async {
    await #expect(processExitsWith: .success) { [prefersLibffi] in
      fwd_callback_prefer_libffi(prefersLibffi)
      let target = try Self.jumper()
      let jump = try Message<NoResult>("jump")
      func call() throws -> @Sendable () -> Bool {
        let watched = Watched()
        let callback = try Callback { [watched] (value: Int32) -> Int32 in
          require(watched.isAlive())
          // Only the second send has the method cached, and holds it.
          for _ in 0..<2 { require(catchJump { _ = try? jump(on: target) }) }
          return value + 1
        }
        require(try callback.function(as: (@convention(c) (Int32) -> Int32).self)(1) == 2)
        return watched.isAlive
      }
      let isAlive = try call()
      require(!isAlive())
    }
  }

  @Test(
    "values replaced during a call that a jump ended are released eventually",
    .enabled(
      if: fixture_is_address_sanitized() == 0,
      "with AddressSanitizer dead holds are not told; why was not found out"))
  func replaced() async {
    await #expect(processExitsWith: .success) {
      let target = try Self.jumper()
      let proxy = MulticastProxy()
      proxy.add(target, strongly: true)
      let jump = try Message<NoResult>("jump")
      let isAlive = try Self.register(Watched())
      for index in 0..<200 where isAlive() {
        require(catchJump { _ = try? jump(on: proxy) })
        if index > 0 { continue }
        try MethodTable.of(Counter.self).replace(
          Selector("tick:"), Implementation(method: { (_: Counter, _: Int32) in }))
      }
      require(!isAlive())
    }
  }

  private static func register(_ watched: Watched) throws -> @Sendable () -> Bool {
    try MethodTable.of(Counter.self).replace(
      Selector("tick:"),
      Implementation(method: { [watched] (_: Counter, _: Int32) in _ = watched.isAlive() }))
    try Message<NoResult, Int32>("tick:")(1, on: Counter())
    return watched.isAlive
  }
}
