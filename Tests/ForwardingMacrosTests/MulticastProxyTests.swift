// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import ProxyProtocols
  import ForwardingTestSupport
  import ForwardingTesting
  import Invocations
  import Testing

  @Suite("Multicasts of a protocol")
  struct MulticastProxyTests {
    let chat = Chat("garden")
    let delegates = Multicast<ChatDelegateProxy>()

    @Test(
      "the proxy returns the answers of others if a target on a queue has none",
      arguments: [false, true])
    func questions(isAddedAgain: Bool) throws {
      let queue = DispatchQueue(label: "delegates")
      let (here, there) = (Screen(), Screen())
      defer { withExtendedLifetime((here, there)) {} }
      here.allows = false
      // Without its protocol, the proxy refuses questions to a queue.
      if isAddedAgain { delegates.untyped.add(there, on: .queue(queue)) }
      delegates.add(unchecked: there, on: .queue(queue))
      // No target could answer, so the default is used.
      #expect(delegates.proxy.chat(chat, shouldSend: "text"))
      #expect(throws: ForwardingError.self) { try delegates.proxy.chat(chat, upload: [1]) }
      delegates.add(here)
      #expect(!delegates.proxy.chat(chat, shouldSend: "text"))
      #expect(try delegates.proxy.chat(chat, upload: [1, 2]) == 2)
      queue.sync {}
    }

    @Test("the proxy has the properties of the protocol")
    func properties() {
      let screens = [Screen("one"), Screen("two")]
      defer { withExtendedLifetime(screens) {} }
      #expect(delegates.proxy.unread == 0)
      #expect(delegates.proxy.draft == nil)
      for screen in screens { delegates.add(screen) }
      delegates.proxy.draft = "text"
      #expect(screens.map(\.draft) == ["text", "text"])
      #expect(delegates.proxy.draft == "text")
      #expect(delegates.proxy.unread == 3)
    }

    @Test(
      "an optional requirement that all targets omit is not reported, nor is one of a single target"
    )
    func nobodyHasIt() async {
      let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let delegates = Multicast<ChatDelegateProxy>()
        let screen = Screen()
        defer { withExtendedLifetime(screen) {} }
        delegates.add(screen)
        let single = SingleTarget<ChatDelegateProxy>(screen)
        for _ in 0..<2 {
          delegates.proxy.chatDidBecomeIdle(Chat("garden"))
          if delegates.proxy.titleOfChat(Chat("garden")) != nil { fatalError() }
          single.proxy.chatDidBecomeIdle(Chat("garden"))
          if single.proxy.titleOfChat(Chat("garden")) != nil { fatalError() }
        }
      }
      #expect(printedLines(result) == [])
    }

  }
#endif
