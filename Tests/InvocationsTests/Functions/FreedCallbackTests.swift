// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import CForwardingShims
import ForwardingTestSupport
import Foundation
import Synchronization
import Testing
import TypeEncodings

@testable import Invocations

private typealias Number = @convention(c) () -> Int32

/// Functions of callbacks that are freed.
private func freed(_ count: Int) throws -> [UnsafeRawPointer] {
  try (0..<count).map { number in try Callback { () -> Int32 in Int32(number) }.address }
}

/// The function of a freed callback whose plan has no other user.
private func freedOfOwnPlan() throws -> UInt {
  let plan = try CallPlan.shared(for: MethodSignature(parsing: "iiqiq"))
  return UInt(bitPattern: try Callback(Answer(plan, { _ in }, { _ in })).address)
}

/// A function that threads read while another thread changes it.
private final class Shared: Sendable {
  let function: Atomic<UInt>
  init(_ function: UInt) { self.function = Atomic(function) }
}

// Each test is a separate process, and runs for trampolines (0) and for libffi's closures (1).
@Suite("Freed callbacks")
struct FreedCallbackTests {
  @Test("the function that was freed last is reused last", arguments: [0, 1])
  func oldestFirst(prefersLibffi: Int32) async {
    await #expect(processExitsWith: .success) { [prefersLibffi] in
      fwd_callback_prefer_libffi(prefersLibffi)
      let old = try freed(1)[0]
      var others: [Callback] = []
      for _ in 0..<60 { others.append(try Callback { () -> Int32 in 1 }) }
      try #require(!others.contains { $0.address == old })
      for _ in 0..<140 { others.append(try Callback { () -> Int32 in 1 }) }
      let functions = others.map(\.address)
      while !others.isEmpty { others.removeFirst() }
      for _ in 0..<60 { others.append(try Callback { () -> Int32 in 1 }) }
      try #require(!others.contains { functions.suffix(60).contains($0.address) })
      try #require(others.contains { functions.prefix(60).contains($0.address) })
    }
  }

  @Test("a call to a freed function returns zero and reports an event once", arguments: [0, 1])
  func calledLate(prefersLibffi: Int32) async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      [prefersLibffi] in
      fwd_callback_prefer_libffi(prefersLibffi)
      let call = unsafeBitCast(try freed(1)[0], to: Number.self)
      try #require(call() == 0)
      try #require(call() == 0)
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    let lines = text.split(separator: "\n").filter { $0.contains("its callback is gone") }
    #expect(lines.count == 1, "\(text)")
  }

  @Test(
    "zero is returned in the result's own registers: mixed, long double, memory", arguments: [0, 1])
  func kinds(prefersLibffi: Int32) async {
    await #expect(processExitsWith: .success) { [prefersLibffi] in
      fwd_callback_prefer_libffi(prefersLibffi)
      let mixed = try Callback { (mixed: FixtureMixed) -> FixtureMixed in mixed }
        .function(as: (@convention(c) (FixtureMixed) -> FixtureMixed).self)
      let answer = mixed(FixtureMixed(number: 1, value: 2))
      try #require(answer.number == 0)
      try #require(answer.value == 0)
      let rectangle = try Callback { (r: FixtureRectangle) -> FixtureRectangle in r }
        .function(as: (@convention(c) (FixtureRectangle) -> FixtureRectangle).self)
      let point = FixturePoint(x: 1, y: 2)
      let large = rectangle(FixtureRectangle(origin: point, size: point))
      try #require(large.origin.x == 0)
      try #require(large.size.y == 0)
      // More often than the x87 stack has registers.
      let long = try Callback { (value: LongDouble) -> LongDouble in value }.address
      try #require(fixture_call_long_double(long, 20) == 0)
    }
  }

  @Test("the event reaches the handler of events, and names the function")
  func handler() async {
    await #expect(processExitsWith: .success) {
      let events = Guarded<[ForwardingEvent]>([])
      ForwardingEvent.destination = .handler { event in events.withLock { $0.append(event) } }
      let function = try freed(1)[0]
      _ = unsafeBitCast(function, to: Number.self)()
      let seen = events.read { $0 }
      try #require(seen.map(\.kind) == [.deadCallback])
      let address = String(UInt(bitPattern: function), radix: 16)
      try #require(seen[0].description.contains(address))
    }
  }

  @Test(
    "threads that call while callbacks are made and freed read no freed memory",
    arguments: [0, 1])
  func racing(prefersLibffi: Int32) async {
    await #expect(processExitsWith: .success) { [prefersLibffi] in
      fwd_callback_prefer_libffi(prefersLibffi)
      ForwardingEvent.destination = .nowhere
      let shared = Shared(UInt(bitPattern: try freed(1)[0]))
      let group = DispatchGroup()
      for _ in 0..<4 {
        group.enter()
        beginThread {
          for _ in 0..<100_000 {
            let call = unsafeBitCast(
              shared.function.load(ordering: .relaxed), to: Number.self)
            precondition([0, 7].contains(call()))
          }
          group.leave()
        }
      }
      for _ in 0..<5_000 {
        let callback = try Callback { () -> Int32 in 7 }
        shared.function.store(UInt(bitPattern: callback.address), ordering: .relaxed)
      }
      group.wait()
    }
  }

  @Test(
    "a late call finds the type of a function whose next callback has another plan",
    arguments: [0, 1])
  func ownPlans(prefersLibffi: Int32) async {
    await #expect(processExitsWith: .success) { [prefersLibffi] in
      fwd_callback_prefer_libffi(prefersLibffi)
      ForwardingEvent.destination = .nowhere
      // With glibc, M_PERTURB overwrites freed memory.
      if let mallopt = dlsym(nil, "mallopt") {
        _ = unsafeBitCast(mallopt, to: (@convention(c) (Int32, Int32) -> Int32).self)(-6, 0xA5)
      }
      typealias Sum = @convention(c) (Int32, Int64, Int32, Int64) -> Int32
      let functions = try (0..<80).map { _ in try freedOfOwnPlan() }
      let isOver = Atomic(false)
      let group = DispatchGroup()
      for _ in 0..<3 {
        group.enter()
        beginThread {
          while !isOver.load(ordering: .relaxed) {
            for function in functions {
              precondition(unsafeBitCast(function, to: Sum.self)(1, 2, 3, 4) == 0)
            }
          }
          group.leave()
        }
      }
      for _ in 0..<20_000 { _ = try freedOfOwnPlan() }
      isOver.store(true, ordering: .relaxed)
      group.wait()
    }
  }

  @Test(
    "a callback that is released inside its own call, deeper than the hold slots, ends normally")
  func droppedDeeply() async {
    await #expect(processExitsWith: .success) {
      final class Box: @unchecked Sendable { var callback: Callback?; var ended = 0 }
      final class Owned: Sendable {
        let box: Box; init(_ box: Box) { self.box = box }
        deinit { box.ended += 1 }
      }
      typealias Function = @convention(c) (Int32) -> Int32
      let box = Box()
      func make() throws {
        let owned = Owned(box)
        let depthMax = Int32(FWD_HOLDS_MAX) + 8
        box.callback = try Callback { (depth: Int32) -> Int32 in
          if depth == depthMax {
            box.callback = nil
            try withExtendedLifetime(freed(10)) { _ in }
            return owned.box.ended == 0 ? 1 : 0
          }
          guard let callback = box.callback else { return 0 }
          return try callback.function(as: Function.self)(depth + 1)
        }
      }
      try make()
      let call = try #require(box.callback).function(as: Function.self)
      try #require(call(0) == 1)
      try #require(box.ended == 1)
    }
  }
}
