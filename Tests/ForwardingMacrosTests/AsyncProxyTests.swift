// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Forwarding
  import Testing

  @Suite("Messages that are awaited, and streams of messages", .timeLimit(.minutes(60)))
  struct AsyncProxyTests {
    private let story = Story()
    private let targets = Multicast<HearingProxy>()

    @Test("messages by name have all answers, one after the other or concurrently")
    func messages() async throws {
      let ears = [story.ear(1, in: targets), story.ear(2, in: targets)]
      let check = targets.messages.checkLater
      for concurrently in [false, true] {
        #expect(try await check.all(5, concurrently: concurrently) == [1, 2])
        #expect(try await check(5, concurrently: concurrently) == 2)
        for ear in ears { ear.isBroken = true }
        #expect(try await check.report(5, concurrently: concurrently).errors.count == 2)
        for ear in ears { ear.isBroken = false }
      }
      #expect(try await check.first(5, concurrently: false) == 1)
      #expect(throws: InvocationError.self) { try check.all(5) }
    }

    @Test("a handler around an async requirement awaits what it sends on")
    func around() async throws {
      let watched = Intercepting<HearingProxy>(Ear(1, story))
      watched.messages.checkLater.around { proceed, number in
        await Task.yield()
        return try await proceed(number + 1) + 10
      }
      #expect(try await watched.proxy.checkLater(5) == 11)
      #expect(story.take() == ["1 checks 6"])
    }

    @Test("a proxy has a stream of its messages")
    func stream() async throws {
      let numbers = try targets.messages.hear.calls()
      for number in 1...2 { targets.proxy.hear(number) }
      targets.removeAll()
      #expect(await numbers.reduce(into: []) { $0.append($1) } == [1, 2])
    }
  }
#endif
