// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import ForwardingTestSupport
import Foundation
import Invocations
import Synchronization
import Testing

private typealias Number = @convention(c) (Int) -> Int

/// Tells when it dies.
private final class Witness: Sendable {
  let atEnd: @Sendable () -> Void
  init(_ atEnd: @escaping @Sendable () -> Void) { self.atEnd = atEnd }
  deinit { atEnd() }
}

/// The functions of callbacks are trampolines (0), with values that need a frame, or closures of libffi (1).
private func number(
  _ isWide: Bool, _ body: @escaping @Sendable (Int) -> Int
) throws -> Callback {
  isWide
    ? try Callback { (number: Int, _: Int, _: Int, _: Int, _: Int) in body(number) }
    : try Callback(body)
}

@Suite("Callbacks that C keeps")
struct GivenCallbackTests {
  @Test(
    "a callback lives until C destroys it, and its closure is released once",
    arguments: [0, 1], [false, true])
  func destroyed(prefersLibffi: Int32, isWide: Bool) async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      [prefersLibffi, isWide] in
      fwd_callback_prefer_libffi(prefersLibffi)
      let deaths = Atomic(0)
      let given = try {
        let witness = Witness { deaths.add(1, ordering: .relaxed) }
        return try number(isWide) { number in
          withExtendedLifetime(witness) { number + 1 }
        }.keptUntilDestroyed()
      }()
      let function = unsafe given.pointer.function(as: Number.self)
      for number in 0..<3 { try #require(function(number) == number + 1) }
      try #require(deaths.load(ordering: .relaxed) == 0)
      given.destroy(given.context)
      try #require(deaths.load(ordering: .relaxed) == 1)
      for _ in 0..<2 { given.destroy(given.context) }
      try #require(function(1) == 0)
      try #require(deaths.load(ordering: .relaxed) == 1)
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.split(separator: "\n").count { $0.contains("its callback is gone") } == 1)
  }

  @Test("a closure may destroy its own callback", arguments: [0, 1], [false, true])
  func destroysItself(prefersLibffi: Int32, isWide: Bool) async {
    await #expect(processExitsWith: .success) { [prefersLibffi, isWide] in
      fwd_callback_prefer_libffi(prefersLibffi)
      let deaths = Atomic(0)
      let given = Guarded<GivenCallback?>(nil)
      let function = try {
        let witness = Witness { deaths.add(1, ordering: .relaxed) }
        let made = try number(isWide) { number in
          if let given = given.read({ $0 }) { given.destroy(given.context) }
          return deaths.load(ordering: .relaxed) == 0
            ? withExtendedLifetime(witness) { number } : -1
        }.keptUntilDestroyed()
        given.withLock { $0 = made }
        return unsafe made.pointer.function(as: Number.self)
      }()
      try #require(function(5) == 5)
      try #require(deaths.load(ordering: .relaxed) == 1)
      try #require(function(5) == 0)
    }
  }

  @Test(
    "a callback that is kept until it is called is released by its call, and a second one is told",
    arguments: [0, 1], [false, true])
  func called(prefersLibffi: Int32, isWide: Bool) async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      [prefersLibffi, isWide] in
      fwd_callback_prefer_libffi(prefersLibffi)
      let deaths = Atomic(0)
      let given = try {
        let witness = Witness { deaths.add(1, ordering: .relaxed) }
        return try number(isWide) { number in
          withExtendedLifetime(witness) { deaths.load(ordering: .relaxed) == 0 ? number : -1 }
        }.keptUntilCalled()
      }()
      let function = unsafe given.pointer.function(as: Number.self)
      try #require(function(5) == 5)
      try #require(deaths.load(ordering: .relaxed) == 1)
      for _ in 0..<3 { try #require(function(5) == 0) }
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.split(separator: "\n").count { $0.contains("its callback is gone") } == 1)
  }

  @Test("of calls at the same time one runs, also while the program has the callback")
  func calledAtOnce() throws {
    for _ in 0..<200 {
      let runs = Atomic(0)
      let callback = try Callback { (_: Int) in runs.add(1, ordering: .relaxed).newValue }
      let pointer = callback.keptUntilCalled().pointer
      DispatchQueue.concurrentPerform(iterations: 4) { number in
        _ = unsafe pointer.function(as: Number.self)(number)
      }
      withExtendedLifetime(callback) {}
      #expect(runs.load(ordering: .relaxed) == 1)
    }
  }

  @Test("a callback that C refuses to call is released by its maker")
  func refused() throws {
    let deaths = Atomic(0)
    let given = try {
      let witness = Witness { deaths.add(1, ordering: .relaxed) }
      return try Callback { (number: Int) in withExtendedLifetime(witness) { number } }
        .keptUntilCalled()
    }()
    typealias Notify = @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void
    unsafe unsafeBitCast(given.destroy, to: Notify.self)(given.context, nil)
    #expect(deaths.load(ordering: .relaxed) == 1)
    given.destroy(nil)
  }

  @Test("a second end does not reach the callback that has the function now")
  func endedTwice() throws {
    let first = try Callback { (number: Int) in number }.keptUntilDestroyed()
    unsafe first.destroy(first.context)
    for _ in 0..<10_000 {
      let other = try Callback { (number: Int) in number + 1 }.keptUntilDestroyed()
      defer { unsafe other.destroy(other.context) }
      guard unsafe other.pointer.address == first.pointer.address else { continue }
      unsafe first.destroy(first.context)
      #expect(unsafe other.pointer.function(as: Number.self)(1) == 2)
      return
    }
    Issue.record("the function was not used again")
  }

  @Test("a call while the closure is released answers zero")
  func calledFromDeinit() throws {
    let answer = Guarded<Int?>(nil)
    let function = Guarded<Number?>(nil)
    let given = try {
      let witness = Witness {
        let given = function.read { $0 }?(7)
        answer.withLock { $0 = given }
      }
      return try Callback { (number: Int) in withExtendedLifetime(witness) { number } }
        .keptUntilDestroyed()
    }()
    let made: Number = unsafe given.pointer.function()
    function.withLock { $0 = made }
    given.destroy(given.context)
    #expect(answer.read { $0 } == 0)
  }

  @Test("a callback that C has already cannot be given again: the program ends with a sentence")
  func givenTwice() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let callback = try Callback { (number: Int) in number }
      _ = callback.keptUntilCalled()
      _ = callback.keptUntilDestroyed()
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("C has this callback already"))
  }
}

/// Carries a value of another layout.
private struct Carrier: CallStructure {
  var first: Int, second: Int
  static var structure: VouchedStructure<Carrier> { unsafe VouchedStructure("{Carrier=qq}") }
}

private struct Carried: CarriedValue {
  var text: String
  init(_ text: String) { self.text = text }
  init?(carrier: Carrier) { text = "\(carrier.first), \(carrier.second)" }
  var carrier: Carrier { Carrier(first: text.count, second: 7) }
}

@Suite("Values of callbacks")
struct CallbackValueTests {
  @Test("a value that a structure carries is converted")
  func carried() throws {
    let read = try Callback { (value: Carried) in value.text.count }
    let function = unsafe read.pointer.function(as: (@convention(c) (Int, Int) -> Int).self)
    #expect(function(40, 2) == 5)
    let write = try Callback { (count: Int) in Carried(String(repeating: "a", count: count)) }
    #expect(unsafe write.pointer.function(as: Number.self)(9) == 9)
  }

  @Test("errors are released", arguments: [false, true])
  func errors(isWide: Bool) throws {
    struct Failure: Error { let witness: Witness }
    let deaths = Atomic(0)
    let died: @Sendable () -> Void = { deaths.add(1, ordering: .relaxed) }
    let callback =
      isWide
      ? try Callback(onError: { _ in }) {
        (_: Int, _: Int, _: Int, _: Int, _: Int) throws -> Int in
        throw Failure(witness: Witness(died))
      }
      : try Callback(onError: { _ in }) { (_: Int) throws -> Int in
        throw Failure(witness: Witness(died))
      }
    for _ in 0..<10 { #expect(unsafe callback.pointer.function(as: Number.self)(1) == 0) }
    #expect(deaths.load(ordering: .relaxed) == 10)
  }

  @Test("an error of a null pointer has the index of the argument", arguments: [false, true])
  func nullIndex(isWide: Bool) throws {
    let errors = Guarded<[String]>([])
    let note: Callback.ErrorHandler = { error in
      let text = "\(error)"
      errors.withLock { $0.append(text) }
    }
    let callback =
      isWide
      ? try Callback(onError: note) {
        (_: Double, _: Int, _: UnsafeRawPointer, _: Int, _: Int) in
      } : try Callback(onError: note) { (_: Double, _: Int, _: UnsafeRawPointer) in }
    typealias Function = @convention(c) (Double, Int, UnsafeRawPointer?) -> Void
    unsafe callback.pointer.function(as: Function.self)(1, 2, nil)
    #expect(
      errors.withLock { $0 } == [
        "argument 2 is NULL; make the type optional, as in 'UnsafeRawPointer?'"
      ])
  }
}

/// Is not `Sendable`.
private final class Counter {
  var count = 0
}

@MainActor private final class Window {
  var number = 0
  func callback() throws -> Callback {
    try Callback(
      unsafe onlyHere { (change: Int) in
        self.number += change
        return self.number
      })
  }
}

private actor Room {
  var number = 0
  func callback() throws -> Callback {
    try Callback(
      unsafe onlyHere { (change: Int) in
        self.number += change
        return self.number
      })
  }
  func call(_ callback: Callback) throws -> Int { try unsafe callback.function(as: Number.self)(3) }
}

@Suite("Callbacks of closures that are not Sendable")
struct CallbackHomeTests {
  @Test("C calls such a closure on the thread that made it")
  func thread() throws {
    let counter = Counter()
    let add = try Callback(
      unsafe onlyHere { (number: Int) -> Int in
        counter.count += number
        return counter.count
      })
    let tell = try Callback(unsafe onlyHere { (a: Int, b: Double) in counter.count += a + Int(b) })
    let many = try Callback(
      unsafe onlyHere {
        (a: Int, b: Int, c: Int, d: Int, e: Int) in counter.count += a + b + c + d + e
      })
    #expect(try unsafe add.function(as: Number.self)(2) == 2)
    try unsafe tell.function(as: (@convention(c) (Int, Double) -> Void).self)(3, 4.5)
    try unsafe many.function(as: (@convention(c) (Int, Int, Int, Int, Int) -> Void).self)(
      1, 1, 1, 1, 1)
    #expect(counter.count == 14)
  }

  @Test("C calls the closure of an actor on the actor")
  func actor() async throws {
    try await MainActor.run {
      let window = Window()
      let callback = try window.callback()
      #expect(try unsafe callback.function(as: Number.self)(2) == 2)
    }
    let room = Room()
    let callback = try await room.callback()
    for calls in 1...20 { #expect(try await room.call(callback) == 3 * calls) }
  }

  @Test(
    "a call elsewhere ends the program with a sentence", arguments: ["thread", "main", "actor"])
  func elsewhere(maker: String) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [maker] in
      let callback =
        switch maker {
        case "thread": try Self.made()
        case "main": try await Window().callback()
        default: try await Room().callback()
        }
      let function = try unsafe callback.function(as: Number.self)
      let thread = Thread { _ = function(1) }
      thread.start()
      try await Task.sleep(for: .seconds(600))
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(
      text.contains(
        maker == "thread"
          ? "on another thread than the one that made it" : "that made it with 'onlyHere'"),
      "\(text)")
  }

  @Test("a thread that begins later is another one")
  func endedThread() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let made = Guarded<Callback?>(nil)
      onThreads(1) { _ in
        let callback = try? Self.made()
        made.withLock { $0 = callback }
      }
      let function = try unsafe #require(made.read { $0 }).function(as: Number.self)
      for _ in 0..<4 { onThreads(1) { _ in _ = function(1) } }
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("on another thread than the one that made it"), "\(text)")
  }

  private nonisolated static func made() throws -> Callback {
    try Callback(unsafe onlyHere { (number: Int) in number })
  }
}
