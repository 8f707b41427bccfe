// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import ForwardingTestSupport
import Foundation
import Invocations
import Synchronization
import Testing

private typealias Number = @convention(c) (Int) -> Int

/// How long a callback lives is in `FreedCallbackTests`.
@Suite("Callbacks that C keeps")
struct GivenCallbackTests {
  @Test("a closure may destroy its own callback", arguments: CallbackCode.allCases)
  func destroysItself(code: CallbackCode) async {
    await #expect(processExitsWith: .success) { [code] in
      let census = Census()
      let given = Guarded<GivenCallback?>(nil)
      let made = try code.callback(
        census.owning { number in
          if let given = given.read({ $0 }) { given.destroy(given.context) }
          return census.died == 0 ? number : -1
        }
      ).keptUntilDestroyed()
      given.withLock { $0 = made }
      let function = unsafe made.pointer.function(as: Number.self)
      try #require(function(5) == 5)
      try #require(census.died == 1)
      try #require(function(5) == 0)
    }
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

  @Test("a callback that C refuses to call is released by its maker, once")
  func refused() throws {
    let census = Census()
    let given = try Callback(census.owning()).keptUntilCalled()
    typealias Notify = @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void
    unsafe unsafeBitCast(given.destroy, to: Notify.self)(given.context, nil)
    #expect(census.died == 1)
    given.destroy(nil)
  }

  @Test("a second end is reported, and does not reach the callback that has the function now")
  func endedTwice() async {
    await #expect(processExitsWith: .success) {
      let events = Guarded<[ForwardingEvent]>([])
      ForwardingEvent.destination = .handler { event in events.withLock { $0.append(event) } }
      let first = try Callback { (number: Int) in number }.keptUntilDestroyed()
      unsafe first.destroy(first.context)
      for _ in 0..<10_000 {
        let other = try Callback { (number: Int) in number + 1 }.keptUntilDestroyed()
        defer { unsafe other.destroy(other.context) }
        guard unsafe other.pointer.address == first.pointer.address else { continue }
        unsafe first.destroy(first.context)
        try #require(unsafe other.pointer.function(as: Number.self)(1) == 2)
        try #require(events.read { $0.map(\.kind) } == [.deadCallback])
        return
      }
      fatalError("the function was not used again")
    }
  }

  @Test("a call while the closure is released answers zero")
  func calledFromDeinit() throws {
    let answer = Guarded<Int?>(nil)
    let function = Guarded<Number?>(nil)
    let called = {
      let given = function.read { $0 }?(7)
      answer.withLock { $0 = given }
    }
    let given = try Callback(Census().owning(atEnd: called)).keptUntilDestroyed()
    let made: Number = unsafe given.pointer.function()
    function.withLock { $0 = made }
    given.destroy(given.context)
    #expect(answer.read { $0 } == 0)
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
  func call(_ callback: Callback) -> Int { unsafe callback.pointer.function(as: Number.self)(3) }
}

@Suite("Callbacks of closures that are not Sendable")
struct CallbackHomeTests {
  /// Is not `Sendable`.
  private final class Counter {
    var count = 0
  }

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
    #expect(unsafe add.pointer.function(as: Number.self)(2) == 2)
    unsafe tell.pointer.function(as: (@convention(c) (Int, Double) -> Void).self)(3, 4.5)
    unsafe many.pointer.function(as: (@convention(c) (Int, Int, Int, Int, Int) -> Void).self)(
      1, 1, 1, 1, 1)
    #expect(counter.count == 14)
  }

  @Test("C calls the closure of an actor on the actor")
  func actor() async throws {
    try await MainActor.run {
      var number = 0
      let callback = try Callback(
        unsafe onlyHere { (change: Int) in
          number += change
          return number
        })
      #expect(unsafe callback.pointer.function(as: Number.self)(2) == 2)
    }
    let room = Room()
    let callback = try await room.callback()
    for calls in 1...20 { #expect(await room.call(callback) == 3 * calls) }
  }
}

/// A use of a callback that ends the program.
private enum Misuse: String, Codable, CaseIterable {
  case scopeOnOtherThread, scopeOnOtherThreadOfLibffi, scopeInItself, scopeInItselfOfLibffi
  case swiftFunctionType, givenTwice
  case onlyHereElsewhere, onlyHereOnLaterThread, ofMainActorElsewhere, ofActorElsewhere

  /// The end of the sentence that the program ends with.
  var sentence: String {
    switch self {
    case .scopeOnOtherThread, .scopeOnOtherThreadOfLibffi: "on another thread; use a 'Callback'"
    case .scopeInItself, .scopeInItselfOfLibffi:
      "while an earlier call of it was running; use a 'Callback'"
    case .swiftFunctionType: "write '@convention(c)' in front of it"
    case .givenTwice: "C has this callback already"
    case .onlyHereElsewhere, .onlyHereOnLaterThread:
      "on another thread than the one that made it with 'onlyHere'"
    case .ofMainActorElsewhere: "outside of the MainActor that made it with 'onlyHere'"
    case .ofActorElsewhere: "outside of the Room that made it with 'onlyHere'"
    }
  }

  private nonisolated static func made() throws -> Callback {
    try Callback(unsafe onlyHere { (number: Int) in number })
  }

  func run() async throws {
    var callback: Callback?
    switch self {
    case .scopeOnOtherThread, .scopeOnOtherThreadOfLibffi:
      withCallback({ (number: Int) in number }) { pointer, _ in
        let function = unsafe pointer.function(as: Number.self)
        onThreads(1) { _ in _ = function(1) }
      }
    case .scopeInItself, .scopeInItselfOfLibffi:
      var function: Number?
      withCallback({ (number: Int) in number + (function?(number) ?? 0) }) { pointer, _ in
        function = unsafe pointer.function()
        _ = function?(1)
      }
    case .swiftFunctionType:
      withCallback({ (number: Int) in number }) { pointer, _ in
        _ = unsafe pointer.function(as: ((Int) -> Int).self)
      }
    case .givenTwice:
      let given = try Callback { (number: Int) in number }
      _ = given.keptUntilCalled()
      _ = given.keptUntilDestroyed()
    case .onlyHereOnLaterThread:
      // A thread that begins later is another one.
      let made = Guarded<Callback?>(nil)
      onThreads(1) { _ in
        let callback = try? Self.made()
        made.withLock { $0 = callback }
      }
      callback = made.read { $0 }
    case .onlyHereElsewhere: callback = try Self.made()
    case .ofMainActorElsewhere:
      callback = try await MainActor.run {
        try Callback(unsafe onlyHere { (number: Int) in number })
      }
    case .ofActorElsewhere: callback = try await Room().callback()
    }
    guard let function = unsafe callback?.pointer.function(as: Number.self) else { return }
    for _ in 0..<4 { onThreads(1) { _ in _ = function(1) } }
  }
}

@Suite("Callbacks that are used wrongly")
struct CallbackMisuseTests {
  @Test("the program ends with a sentence", arguments: Misuse.allCases)
  private func sentence(misuse: Misuse) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [misuse] in
      fwd_callback_prefer_libffi(misuse.rawValue.hasSuffix("OfLibffi") ? 1 : 0)
      try await misuse.run()
    }
    let said = try printed(result)
    #expect(said.contains(misuse.sentence), "\(said)")
  }
}
