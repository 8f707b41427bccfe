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
