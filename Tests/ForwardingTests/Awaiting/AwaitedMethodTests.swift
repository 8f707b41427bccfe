// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations
@testable import Forwarding
import Synchronization
import Testing

/// An object whose instances a test counts.
final class Counted: Sendable {
  private let count: Log
  init(_ count: Log) {
    self.count = count
    count.add("born")
  }
  deinit { count.add("dead") }
}

/// The number of live objects according to a log.
func alive(_ log: Log) -> Int { log.all.reduce(0) { $0 + ($1 == "born" ? 1 : -1) } }

/// A type that threads must not share.
final class Draft {
  var text = ""
}

private final class Uploader: MethodDeclaring {
  var seen: [String] = []

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("upload:") { (self: Uploader, draft: Draft) in
      draft.text += "+"
      await Task.yield()
      self.seen.append(draft.text)
      return draft.text
    }
    methods.register("count:with:") { (_: Uploader, one: Int, other: Int) in
      await Task.yield()
      return one + other
    }
    methods.register("keep:") { (_: Uploader, value: Counted) in
      await Task.yield()
      return [value, value]
    }
    methods.register("fail:") { (_: Uploader, value: Counted) async throws -> Counted in
      await Task.yield()
      throw Failure(name: "upload")
    }
    methods.register("plain:") { (_: Uploader, value: Int32) in value + 1 }
    methods.register("wide:after:") { (_: Uploader, value: Int128, step: Int) async in
      value &+ Int128(step)
    }
  }
}

private let upload = try! AsyncMessage<String, Draft>("upload:")
private let count = try! AsyncMessage<Int, Int, Int>("count:with:")
private let keep = try! AsyncMessage<[Counted], Counted>("keep:")
private let fails = try! AsyncMessage<Counted, Counted>("fail:")

@Suite("Awaited methods")
struct AwaitedMethodTests {
  @Test("a message awaits an async method and returns its result")
  func awaited() async throws {
    #expect(try await count(2, 3, on: Uploader()) == 5)
  }

  @Test("a number of 128 bits reaches an async method whole")
  func wide() async throws {
    let wide = try AsyncMessage<Int128, Int128, Int>("wide:after:")
    #expect(try await wide(Int128.max / 3, 4, on: Uploader()) == Int128.max / 3 + 4)
  }

  @Test("a value that is not Sendable is sent, because the method runs on its sender's actor")
  func notSendable() async throws {
    let draft = Draft()
    let uploader = Uploader()
    #expect(try await upload(draft, on: uploader) == "+")
    #expect(uploader.seen == ["+"])
  }

  @Test("a synchronous method is called at once")
  func plain() async throws {
    #expect(try await AsyncMessage<Int32, Int32>("plain:")(4, on: Uploader()) == 5)
  }

  @Test("a synchronous send of an async method throws the reason")
  func notAwaited() {
    #expect(throws: InvocationError.notAwaited("count:with:")) {
      try count.message(2, 3, on: Uploader())
    }
  }

  @Test("a message without a result calls an async method that has one")
  func dropped() async throws {
    let uploader = Uploader()
    try await AsyncMessage<Void, Draft>("upload:")(Draft(), on: uploader)
    #expect(uploader.seen == ["+"])
  }

  @Test("a method of other types is refused, and the error names both")
  func mismatch() async {
    await #expect(throws: InvocationError.self) {
      try await AsyncMessage<Int, String>("upload:")("x", on: Uploader())
    }
  }

  @Test("a message to nil returns zero")
  func toNil() async throws {
    #expect(try await count(2, 3, on: nil) == 0)
  }

  @Test("a message that the object does not know is an error")
  func unknown() async {
    await #expect(throws: InvocationError.self) {
      try await AsyncMessage<Void>("unheardOf")(on: Uploader())
    }
  }

  @Test("arguments and results live as long as they are used, and no longer")
  func lifetimes() async throws {
    let log = Log()
    do {
      let answer = try await keep(Counted(log), on: Uploader())
      #expect(answer.count == 2)
      withExtendedLifetime(answer) { #expect(alive(log) == 1) }
    }
    #expect(alive(log) == 0)
  }

  @Test("arguments are released when a method throws")
  func thrown() async throws {
    let log = Log()
    await #expect(throws: Failure(name: "upload")) {
      try await fails(Counted(log), on: Uploader())
    }
    #expect(alive(log) == 0)
  }

  @Test("the receiver is retained while its method is suspended, and released after it")
  func receiver() async throws {
    final class Short: MethodDeclaring {
      let life: Counted
      init(_ life: Counted) { self.life = life }
      static func declareMethods(_ methods: MethodDeclarations) {
        methods.register("run:") { (_: Short, log: Log) async -> Int in
          await Task.yield()
          return alive(log)
        }
      }
    }
    let log = Log()
    #expect(try await AsyncMessage<Int, Log>("run:")(log, on: Short(Counted(log))) == 1)
    #expect(alive(log) == 0)
  }

  @Test("an invocation is awaited, and retains its target and its result")
  func invocation() async throws {
    let uploader = Uploader()
    let call = try count.message.invocation(2, 3)
    try await call.invokeAwaiting(on: uploader)
    #expect(try call.result(as: Int.self) == 5)
    #expect(call.target === uploader)
  }
}

/// Whether the current thread runs on the main actor.
func isOnMain() -> Bool { QueueMark.of(.main).isCurrent }
