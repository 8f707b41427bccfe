// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Invocations
import Testing
import TypeEncodings

/// Forwards every message to the next object, so that as many calls are nested.
private final class Passing: ForwardingProxy, @unchecked Sendable {
  let next: AnyObject?
  init(_ next: AnyObject?) { self.next = next }
  override func methodSignature(for selector: Selector) -> MethodSignature? {
    try? MethodSignature("v@:")
  }
  override func forward(_ invocation: Invocation) throws {
    if let next { try invocation.invoke(on: next) }
  }
}

/// Each test is a separate process, because a failure ends the process.
@Suite("Forwarding on threads with a stack of 64 KiB")
struct SmallStackForwardingTests {
  @Test("a multicast delivers on a small stack")
  func multicast() async {
    await #expect(processExitsWith: .success) {
      let count = Guarded(0)
      onSmallStack {
        let ping = try Message<NoResult>("ping")
        let proxy = MulticastProxy()
        for _ in 0..<16 {
          let target = ClosureTarget()
          try target.register("ping") { () in count.withLock { $0 += 1 } }
          proxy.add(target, strongly: true)
        }
        try ping(on: proxy)
      }
      precondition(count.withLock { $0 } == 16)
    }
  }

  @Test("nested calls end with an error, not with a stack overflow")
  func steps() async {
    await #expect(processExitsWith: .success) {
      onSmallStack {
        var first = Passing(nil)
        for _ in 0..<190 { first = Passing(first) }
        do {
          try Message<NoResult>("ping")(on: first)
          fatalError("went through")
        } catch InvocationError.notEnoughStack {
        }
      }
    }
  }

  @Test("with enough stack, 190 nested calls succeed")
  func deep() throws {
    var first = Passing(nil)
    for _ in 0..<190 { first = Passing(first) }
    try Message<NoResult>("ping")(on: first)
  }
}
