// SPDX-License-Identifier: Apache-2.0
#if Macros
  import ForwardingTesting
  import Testing

  @Suite("The order of calls")
  struct OrderTests {
    let failures = Failures()
    let chat = Chat("garden")
    let one: Spy<ChatDelegateProxy>
    let other: Spy<ChatDelegateProxy>

    init() {
      one = Spy<ChatDelegateProxy>(reportingTo: failures)
      other = Spy<ChatDelegateProxy>(reportingTo: failures)
    }

    @Test("verifyInOrder finds messages in their order, with other calls in between")
    func inOrder() {
      _ = one.proxy.chat(chat, shouldSend: "hello")
      one.proxy.rows(1, 2)
      one.proxy.chat(chat, didReceive: ChatMessage("hello"))
      #expect(
        one.verifyInOrder {
          $0.chatShouldSend
          $0.chatDidReceive
        })
      #expect(failures.all.isEmpty)
    }

    @Test("another order is a failure with the received calls in their order")
    func outOfOrder() {
      one.proxy.chat(chat, didReceive: ChatMessage("hello"))
      _ = one.proxy.chat(chat, shouldSend: "hello")
      #expect(
        !one.verifyInOrder {
          $0.chatShouldSend
          $0.chatDidReceive
        })
      #expect(
        failures.texts == [
          """
          expected a call of 'chat:didReceive:' after 'chat:shouldSend:', received 1 before that
            chat:didReceive:(<Chat>, ChatMessage("hello"))
            chat:shouldSend:(<Chat>, "hello")
          """
        ])
    }

    @Test("an order can span several spies")
    func severalSpies() {
      one.proxy.rows(1, 1)
      other.proxy.rows(2, 2)
      one.proxy.rows(3, 3)
      #expect(
        verifyInOrder {
          one.messages.rows
          other.messages.rows
          one.messages.rows.with(3, 3)
        })
      #expect(
        !verifyInOrder {
          other.messages.rows
          one.messages.rows.with(1, 1)
        })
      #expect(failures.all.first?.received == ["rows::(1, 1)", "rows::(2, 2)", "rows::(3, 3)"])
    }

    @Test("one call cannot match two steps of an order")
    func twice() {
      one.proxy.rows(1, 1)
      #expect(
        !one.verifyInOrder {
          $0.rows
          $0.rows
        })
      one.proxy.rows(1, 1)
      #expect(
        one.verifyInOrder {
          $0.rows
          $0.rows
        })
    }
  }
#endif
