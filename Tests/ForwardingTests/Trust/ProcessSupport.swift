// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import CForwardingShims
import Forwarding
import ForwardingTestSupport
import Foundation
import Synchronization
import Testing
@testable import Invocations

/// A target whose methods are C functions and Swift closures.
final class Counter: CallObject, @unchecked Sendable {
  let count = Atomic(0)
}

final class Box {
  let body: () -> Void
  init(_ body: @escaping () -> Void) { self.body = body }
}

/// Runs a Swift closure through a C function with a context.
func withContext(
  _ body: @escaping () -> Void,
  _ call: (@convention(c) (UnsafeMutableRawPointer?) -> Void, UnsafeMutableRawPointer?) -> Int32
) -> Int32 {
  let box = Box(body)
  return withExtendedLifetime(box) {
    call(
      { Unmanaged<Box>.fromOpaque($0!).takeUnretainedValue().body() },
      Unmanaged.passUnretained(box).toOpaque())
  }
}

func runChild(_ body: @escaping () -> Void) -> Int32 {
  withContext(body) { fixture_run_child($0, $1, 120) }
}

func catchJump(_ body: @escaping () -> Void) -> Bool {
  withContext(body) { fixture_catch_jump($0, $1) } != 0
}

func residentKilobytes() -> Int {
  let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
  return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * 4
}

/// Uses each operation that takes a lock or a hold, once.
func useEverything(_ proxy: MulticastProxy, _ index: Int) throws {
  let tick = try Message<NoResult, Int32>("tick:")
  let target = Counter()
  let token = proxy.add(target, strongly: index % 2 == 0)
  try tick(1, on: target)
  try tick(1, on: proxy)
  proxy.suspend(token)
  try tick(1, on: proxy)
  proxy.remove(token)
  try MethodTable.of(Counter.self).replace(
    Selector("other:"), Implementation(method: { (_: Counter, _: Int32) in }))
  try Message<NoResult, Int32>("other:")(1, on: target)
  let callback = try Callback { (value: Int32) in value + 1 }
  let function = try callback.function(as: (@convention(c) (Int32) -> Int32).self)
  require(function(1) == 2)
  // Other threads may send through the same proxy.
  require(target.count.load(ordering: .relaxed) >= 2)
}

func registerTick() throws {
  try MethodTable.of(Counter.self).replace(
    Selector("tick:"),
    Implementation(method: { (counter: Counter, step: Int32) in
      counter.count.add(Int(step), ordering: .relaxed)
    }))
}

/// Classes that a thread is declaring methods of when the process forks. Only the child has time to
/// finish.
enum Slowly {
  static let hasBegun = DispatchSemaphore(value: 0)
  static let isChild = Atomic(false)

  static func begin() {
    if isChild.load(ordering: .relaxed) { return }
    hasBegun.signal()
    sleep(60)
  }

  class Declaring: CallObject, MethodDeclaring, @unchecked Sendable {
    class func declareMethods(_ methods: MethodDeclarations) {
      methods.register("first") { (_: Declaring) -> Int32 in 1 }
      begin()
      methods.register("value") { (_: Declaring) -> Int32 in 6 }
    }
  }

  class Resolving: CallObject, MessageForwarding, @unchecked Sendable {
    static func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool {
      begin()
      return (try? table.add(selector, MethodTableTests.answering(6))) ?? false
    }
  }

  /// Forks while one thread declares a class's methods and others wait for it. A send in the child
  /// must succeed.
  static func fork(_ object: any CallObject & Sendable) {
    for _ in 0..<3 { Thread { _ = try? Messages.value(on: object) }.start() }
    hasBegun.wait()
    // Time for the other threads to wait.
    usleep(20_000)
    let status = runChild {
      isChild.store(true, ordering: .relaxed)
      let answers = Atomic(0)
      onThreads(2) { _ in
        if (try? Messages.value(on: object)) == 6 { answers.add(1, ordering: .relaxed) }
      }
      require((try? Messages.value(on: object)) == 6)
      require(answers.load(ordering: .relaxed) == 2)
    }
    require(status == 0, "the child ended with \(status)")
    _exit(0)
  }
}
