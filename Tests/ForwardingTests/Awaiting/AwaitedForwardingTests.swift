// SPDX-License-Identifier: Apache-2.0
@testable import Forwarding
import Invocations
import Testing
import TypeEncodings

private final class Worker: MethodDeclaring {
  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("twice:") { (_: Worker, value: Int) in
      await Task.yield()
      return value * 2
    }
  }
}

private let twice = try! AsyncMessage<Int, Int>("twice:")

@Suite("Forwarding of awaited messages")
struct AwaitedForwardingTests {
  @Test("an object that forwards synchronously can be awaited")
  func atOnce() async throws {
    final class Answering: ForwardingProxy {
      override func signature(for invocation: Invocation) -> MethodSignature? {
        invocation.methodSignature
      }
      override func forward(_ invocation: Invocation) throws { try invocation.setResult(7) }
    }
    #expect(try await twice(4, on: Answering()) == 7)
  }

  @Test("an object may await the message that it forwards")
  func awaiting() async throws {
    final class Passing: ForwardingProxy {
      let worker = Worker()
      override func signature(for invocation: Invocation) -> MethodSignature? {
        invocation.methodSignature
      }
      override nonisolated(nonsending) func forwardAwaiting(_ invocation: Invocation) async throws {
        try await invocation.invokeAwaiting(on: worker)
        try invocation.setResult(try invocation.result(as: Int.self) + 1)
      }
    }
    #expect(try await twice(4, on: Passing()) == 9)
  }

  @Test("a circle of proxies is an error, also if the thread changes within it")
  func circle() async throws {
    final class Passing: ForwardingProxy {
      var next: AnyObject?
      override func signature(for invocation: Invocation) -> MethodSignature? {
        invocation.methodSignature
      }
      override nonisolated(nonsending) func forwardAwaiting(_ invocation: Invocation) async throws {
        await Task.yield()
        try await invocation.invokeAwaiting(on: next)
      }
    }
    let (one, other) = (Passing(), Passing())
    one.next = other
    other.next = one
    defer { one.next = nil }
    await #expect(throws: InvocationError.forwardingCycle("twice:", type: SwiftType(Passing.self)))
    {
      try await twice(4, on: one)
    }
  }

  @Test(
    "a task that outlives the step of its parent neither counts nor keeps it, however many overlap")
  func overlapping() async throws {
    final class Kept: @unchecked Sendable {
      // SAFETY: each generation begins after the one before.
      weak var step: AwaitedStep?
    }
    let generations = 600
    let begun = (0...generations).map { _ in AsyncStream<Void>.makeStream() }
    let ends = AsyncStream<(any Error)?>.makeStream()
    let early = Kept()
    let proxy = MulticastProxy()
    let target = ClosureTarget()
    let go = try AsyncMessage<Void, Int>("go:")
    try target.register(
      "go:",
      Implementation { (_: ClosureTarget, left: Int) async throws -> Void in
        if left == generations - 100 {
          early.step = AwaitedStep.current
          #expect(early.step != nil)
        }
        begun[left].continuation.yield()
        if left == 0 {
          ends.continuation.yield(nil)
          return
        }
        Task {
          do {
            try await go(left - 1, on: proxy)
          } catch {
            ends.continuation.yield(error)
            begun[left - 1].continuation.yield()
          }
        }
        // This step ends when the next one has begun, so that at most two are open.
        for await _ in begun[left - 1].stream { break }
      })
    proxy.add(target)
    try await go(generations, on: proxy)
    for await end in ends.stream {
      #expect(end == nil)
      #expect(early.step == nil)
      break
    }
    withExtendedLifetime(target) {}
  }

  @Test("a handler around the target may suspend, and await the message that it sends on")
  func around() async throws {
    let proxy = InterceptingProxy(Worker())
    proxy.around(
      "twice:",
      awaiting: { call, proceed in
        await Task.yield()
        try call.setArgument(try call.argument(at: 2, as: Int.self) + 1, at: 2)
        try await proceed()
        try call.setResult(try call.result(as: Int.self) + 100)
      })
    #expect(try await twice(4, on: proxy) == 110)
    #expect(throws: InvocationError.notAwaited("twice:")) { try twice.message(4, on: proxy) }
  }
}
