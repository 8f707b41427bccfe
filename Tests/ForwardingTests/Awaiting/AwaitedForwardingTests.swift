// SPDX-License-Identifier: Apache-2.0
import Forwarding
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

  @Test(
    "a task that outlives the step of its parent does not count, however many overlap")
  func overlapping() async throws {
    let generations = 600
    let begun = (0...generations).map { _ in AsyncStream<Void>.makeStream() }
    let ends = AsyncStream<(any Error)?>.makeStream()
    let proxy = MulticastProxy()
    let target = ClosureTarget()
    let go = try AsyncMessage<Void, Int>("go:")
    try target.register(
      "go:",
      Implementation { (_: ClosureTarget, left: Int) async throws -> Void in
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
