// SPDX-License-Identifier: Apache-2.0
// A plug-in that contains the whole package, or is linked with a library of it. Scripts/images.sh
// builds it several times, and host.c loads the copies.
import Forwarding
import Foundation
import Invocations

private final class Sink: CallObject, @unchecked Sendable {
  private let lock = NSLock()
  private var sum: Int32 = 0

  func take(_ value: Int32) {
    lock.lock()
    sum += value
    lock.unlock()
  }

  var total: Int32 {
    lock.lock()
    defer { lock.unlock() }
    return sum
  }
}

/// Delivers on three threads to targets that come and go, through all code that has state in C:
/// holds, lists, methods, spares and callbacks.
private func deliver(_ count: Int32) throws -> Int32 {
  let take = try Message<NoResult, Int32>("take:")
  let table = MethodTable.of(Sink.self)
  if table.signature(for: take.selector) == nil {
    try table.register("take:") { (self: Sink, value: Int32) in self.take(value) }
  }
  let sinks = (0..<8).map { _ in Sink() }
  let proxy = MulticastProxy()
  for sink in sinks { proxy.add(sink) }
  DispatchQueue.concurrentPerform(iterations: 3) { _ in
    for number in 0..<count {
      try! take(1, on: proxy)
      guard number % 16 == 0 else { continue }
      let other = Sink()
      proxy.add(other)
      try! take(0, on: other)
      proxy.remove(other)
    }
  }
  let callback = try Callback { (number: Int32) -> Int32 in number + 1 }
  let call = try Invocation(parsing: "ii")
  try call.setArgument(sinks.reduce(-1) { $0 + $1.total }, at: 0)
  try unsafe call.invoke(using: callback.address)
  return try call.result()
}

@_cdecl("plugin_deliver")
public func plugInDeliver(_ count: Int32) -> Int32 {
  do {
    return try deliver(count)
  } catch {
    print("plug-in: \(error)")
    return -1
  }
}
