// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import CForwardingShims
import ForwardingTestSupport
import Foundation
import Invocations
import Synchronization
import Testing
import TypeEncodings

private typealias Number = @convention(c) (Int) -> Int

/// How the function of a callback is made: as a trampoline (the first two) or a closure of libffi, for
/// values in registers or with a frame.
enum CallbackCode: String, Codable, CaseIterable {
  case registers, frame, libffi, libffiFrame

  /// Makes the callbacks of this process in this way.
  func choose() { fwd_callback_prefer_libffi(self == .registers || self == .frame ? 0 : 1) }

  func callback(_ body: @escaping @Sendable (Int) -> Int) throws -> Callback {
    choose()
    switch self {
    case .registers, .libffi: return try Callback(body)
    case .frame, .libffiFrame:
      return try Callback { (number: Int, _: Int, _: Int, _: Int, _: Int) in body(number) }
    }
  }
}

/// How a callback ends.
private enum End: String, Codable, CaseIterable {
  case released, scope, destroyed, called

  /// Makes a callback of a closure that adds one, calls it, and ends it. Returns its function.
  func function(_ code: CallbackCode, _ census: Census) throws -> Number {
    func body() -> @Sendable (Int) -> Int {
      census.owning { number in census.died == 0 ? number + 1 : -1 }
    }
    func called(_ pointer: CallbackPointer, times: Int = 3) -> Number {
      let function = unsafe pointer.function(as: Number.self)
      for number in 0..<times { precondition(function(number) == number + 1) }
      return function
    }
    switch self {
    case .released:
      let callback = try code.callback(body())
      defer { withExtendedLifetime(callback) {} }
      return called(callback.pointer)
    case .scope:
      code.choose()
      let body = body()
      switch code {
      case .registers, .libffi: return withCallback(body) { pointer, _ in called(pointer) }
      case .frame, .libffiFrame:
        return withCallback {
          (number: Int, _: Int, _: Int, _: Int, _: Int) in
          body(number)
        } run: { pointer, _ in
          called(pointer)
        }
      }
    case .destroyed:
      let given = try code.callback(body()).keptUntilDestroyed()
      defer { for _ in 0..<3 { given.destroy(given.context) } }
      return called(given.pointer)
    case .called: return called(try code.callback(body()).keptUntilCalled().pointer, times: 1)
    }
  }
}

// Each test is a separate process, and runs for trampolines (0) and for libffi's closures (1).
@Suite("Freed callbacks")
struct FreedCallbackTests {
  /// Functions of callbacks that are freed.
  @Sendable private static func freed(_ count: Int) throws -> [UnsafeRawPointer] {
    try (0..<count).map { number in try Callback { () -> Int in number }.address }
  }

  @Test(
    "after its end a function answers zero, its closure was released once, and one call is reported",
    arguments: End.allCases, CallbackCode.allCases)
  private func late(end: End, code: CallbackCode) async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      [end, code] in
      let census = Census()
      let function = try end.function(code, census)
      try #require(census.died == 1 && census.alive == 0)
      for _ in 0..<3 { try #require(function(5) == 0) }
      try #require(census.died == 1)
    }
    #expect(printedLines(result).count { $0.contains("its callback is gone") } == 1)
  }

  @Test(
    "a closure is released with its callback, however deep its calls were",
    arguments: CallbackCode.allCases)
  func deep(code: CallbackCode) async {
    final class Recursion: @unchecked Sendable {
      var function: Number?
      func call(_ depth: Int) -> Int { depth == 0 ? 0 : (function?(depth - 1) ?? 0) + 1 }
    }
    await #expect(processExitsWith: .success) { [code] in
      let (census, recursion) = (Census(), Recursion())
      do {
        let callback = try code.callback(census.owning { recursion.call($0) })
        recursion.function = unsafe callback.pointer.function(as: Number.self)
        try #require(recursion.call(200) == 200)
        withExtendedLifetime(callback) {}
      }
      try #require(census.died == 1)
    }
  }

  @Test("the function that was freed last is reused last, also of scopes", arguments: [0, 1])
  func oldestFirst(prefersLibffi: Int32) async {
    await #expect(processExitsWith: .success) { [prefersLibffi] in
      fwd_callback_prefer_libffi(prefersLibffi)
      func scope() -> UnsafeRawPointer {
        withCallback({ () -> Int in 1 }) { pointer, _ in unsafe pointer.address }
      }
      let old = try Self.freed(1)[0]
      var others: [Callback] = []
      for _ in 0..<60 { others.append(try Callback { () -> Int in 1 }) }
      try #require(!others.contains { $0.address == old })
      for _ in 0..<140 { others.append(try Callback { () -> Int in 1 }) }
      let functions = others.map(\.address)
      while !others.isEmpty { others.removeFirst() }
      for _ in 0..<60 { others.append(try Callback { () -> Int in 1 }) }
      try #require(!others.contains { functions.suffix(60).contains($0.address) })
      try #require(others.contains { functions.prefix(60).contains($0.address) })
      let ended = scope()
      for _ in 0..<60 { try #require(scope() != ended) }
    }
  }

  @Test(
    "zero is returned in the result's own registers; the handler of events gets the function",
    arguments: [0, 1])
  func kinds(prefersLibffi: Int32) async {
    await #expect(processExitsWith: .success) { [prefersLibffi] in
      fwd_callback_prefer_libffi(prefersLibffi)
      let events = Guarded<[ForwardingEvent]>([])
      ForwardingEvent.destination = .handler { event in events.withLock { $0.append(event) } }
      let mixed = try Callback { (mixed: FixtureMixed) -> FixtureMixed in mixed }.pointer
      let answer = mixed.function(as: (@convention(c) (FixtureMixed) -> FixtureMixed).self)(
        FixtureMixed(number: 1, value: 2))
      try #require(answer.number == 0 && answer.value == 0)
      let seen = events.read { $0 }
      try #require(seen.map(\.kind) == [.deadCallback])
      let address = String(UInt(bitPattern: mixed.address), radix: 16)
      try #require(seen[0].description.contains(address))
      // A second end is reported, too.
      let given = try Callback { (number: Int) in number }.keptUntilDestroyed()
      for _ in 0..<2 { given.destroy(given.context) }
      let ends = events.read { $0.dropFirst() }
      try #require(ends.map(\.kind) == [.deadCallback])
      let other = String(UInt(bitPattern: given.pointer.address), radix: 16)
      try #require(ends.last?.description.contains(other) == true)
      let rectangle = try Callback { (r: FixtureRectangle) -> FixtureRectangle in r }.pointer
        .function(as: (@convention(c) (FixtureRectangle) -> FixtureRectangle).self)
      let point = FixturePoint(x: 1, y: 2)
      let large = rectangle(FixtureRectangle(origin: point, size: point))
      try #require(large.origin.x == 0 && large.size.y == 0)
      // More often than the x87 stack has registers.
      let long = try Callback { (value: LongDouble) -> LongDouble in value }.address
      try #require(fixture_call_long_double(long, 20) == 0)
    }
  }

  /// Runs `call` on four threads, again and again, until `body` has ended.
  @Sendable private static func whileThreads(
    _ call: @escaping @Sendable () -> Void, _ body: () throws -> Void
  ) rethrows {
    let isOver = Atomic(false)
    let group = DispatchGroup()
    for _ in 0..<4 {
      group.enter()
      beginThread {
        while !isOver.load(ordering: .relaxed) { call() }
        group.leave()
      }
    }
    try body()
    isOver.store(true, ordering: .relaxed)
    group.wait()
  }

  @Test(
    "threads that call while callbacks are made and freed read no freed memory", arguments: [0, 1])
  func racing(prefersLibffi: Int32) async {
    await #expect(processExitsWith: .success) { [prefersLibffi] in
      fwd_callback_prefer_libffi(prefersLibffi)
      ForwardingEvent.destination = .nowhere
      let shared = Atomic(UInt(bitPattern: try Self.freed(1)[0]))
      try Self.whileThreads {
        for _ in 0..<100 {
          let call = unsafeBitCast(
            shared.load(ordering: .relaxed), to: (@convention(c) () -> Int).self)
          precondition([0, 7].contains(call()))
        }
      } _: {
        for _ in 0..<5_000 {
          let callback = try Callback { () -> Int in 7 }
          shared.store(UInt(bitPattern: callback.address), ordering: .relaxed)
        }
      }
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
      /// The function of a freed callback whose plan has no other user.
      func freed() throws -> UInt {
        UInt(bitPattern: try Callback(MethodSignature(parsing: "iiqiq")) { _ in }.address)
      }
      typealias Sum = @convention(c) (Int32, Int64, Int32, Int64) -> Int32
      let functions = try (0..<80).map { _ in try freed() }
      try Self.whileThreads {
        for function in functions {
          precondition(unsafeBitCast(function, to: Sum.self)(1, 2, 3, 4) == 0)
        }
      } _: {
        // The others may keep the lock from this thread for long.
        let end = ContinuousClock.now + .seconds(2)
        for _ in 0..<20_000 where ContinuousClock.now < end { _ = try freed() }
      }
    }
  }

  @Test(
    "a callback that is released inside its own call, deeper than the hold slots, ends normally")
  func droppedDeeply() async {
    await #expect(processExitsWith: .success) {
      final class Box: @unchecked Sendable { var callback: Callback? }
      let (box, census) = (Box(), Census())
      func make() throws {
        let owned = Tracked(in: census)
        let depthMax = Int(FWD_HOLDS_MAX) + 8
        box.callback = try Callback { (depth: Int) -> Int in
          if depth == depthMax {
            box.callback = nil
            try withExtendedLifetime(Self.freed(10)) { _ in }
            return withExtendedLifetime(owned) { census.died == 0 ? 1 : 0 }
          }
          return box.callback?.pointer.function(as: Number.self)(depth + 1) ?? 0
        }
      }
      try make()
      let call = try #require(box.callback).pointer.function(as: Number.self)
      try #require(call(0) == 1)
      try #require(census.died == 1)
    }
  }
}
