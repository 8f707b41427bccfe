// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import Invocations
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
  @Test("a message awaits an async method, and calls a synchronous one at once")
  func awaited() async throws {
    #expect(try await count(2, 3, on: Uploader()) == 5)
    #expect(try await AsyncMessage<Int32, Int32>("plain:")(4, on: Uploader()) == 5)
    let wide = try AsyncMessage<Int128, Int128, Int>("wide:after:")
    #expect(try await wide(Int128.max / 3, 4, on: Uploader()) == Int128.max / 3 + 4)
    #expect(try await count(2, 3, on: nil) == 0)
  }

  @Test("a value that is not Sendable is sent, because the method runs on its sender's actor")
  func notSendable() async throws {
    let draft = Draft()
    let uploader = Uploader()
    #expect(try await upload(draft, on: uploader) == "+")
    // A message without a result drops that of the method.
    try await AsyncMessage<Void, Draft>("upload:")(draft, on: uploader)
    #expect(uploader.seen == ["+", "++"])
  }

  @Test("what cannot be called is an error: not awaited, of other types, or unknown")
  func refused() async {
    #expect(throws: InvocationError.notAwaited("count:with:")) {
      try count.message(2, 3, on: Uploader())
    }
    await #expect(throws: InvocationError.self) {
      try await AsyncMessage<Int, String>("upload:")("x", on: Uploader())
    }
    await #expect(throws: InvocationError.self) {
      try await AsyncMessage<Void>("unheardOf")(on: Uploader())
    }
  }

  @Test("arguments, results and receivers live as long as they are used, also if a method throws")
  func lifetimes() async throws {
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
    do {
      let answer = try await keep(Counted(log), on: Uploader())
      #expect(answer.count == 2)
      withExtendedLifetime(answer) { #expect(alive(log) == 1) }
    }
    #expect(alive(log) == 0)
    await #expect(throws: Failure(name: "upload")) {
      try await fails(Counted(log), on: Uploader())
    }
    #expect(alive(log) == 0)
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

  @MainActor
  @Test("targets without an actor run on the sender's actor, also concurrently")
  func isolation() async throws {
    let proxy = MulticastProxy()
    let kept = try (1...4).map { _ in
      let target = ClosureTarget()
      try target.register(
        "place",
        Implementation { (_: ClosureTarget) async -> Bool in
          let wasOnMain = isOnMain()
          await Task.yield()
          return wasOnMain && isOnMain()
        })
      proxy.add(target)
      return target
    }
    let place = try AsyncMessage<Bool>("place")
    #expect(try await place(on: kept[0]))
    #expect(try await place(on: MulticastProxy(one: kept[0])))
    #expect(try await place(on: proxy))
    for concurrently in [false, true] {
      let all = try await place.message.all(on: proxy, concurrently: concurrently)
      #expect(all == [true, true, true, true])
    }
    let synchronous = ClosureTarget()
    try synchronous.register("place") { isOnMain() }
    proxy.add(synchronous)
    let all = try await place.message.all(on: proxy, concurrently: true)
    #expect(all == Array(repeating: true, count: 5))
    withExtendedLifetime((kept, synchronous)) {}
  }
}

private let onMain: DispatchSpecificKey<Bool> = {
  let key = DispatchSpecificKey<Bool>()
  DispatchQueue.main.setSpecific(key: key, value: true)
  return key
}()

/// Whether the current thread runs on the main actor.
func isOnMain() -> Bool { DispatchQueue.getSpecific(key: onMain) == true }
