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
      _ = one.face.chat(chat, shouldSend: "hello")
      one.face.rows(1, 2)
      one.face.chat(chat, didReceive: ChatMessage("hello"))
      #expect(
        one.verifyInOrder {
          $0.chatShouldSend
          $0.chatDidReceive
        })
      #expect(failures.all.isEmpty)
    }

    @Test("another order is a failure with the received calls in their order")
    func outOfOrder() {
      one.face.chat(chat, didReceive: ChatMessage("hello"))
      _ = one.face.chat(chat, shouldSend: "hello")
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
      one.face.rows(1, 1)
      other.face.rows(2, 2)
      one.face.rows(3, 3)
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
      one.face.rows(1, 1)
      #expect(
        !one.verifyInOrder {
          $0.rows
          $0.rows
        })
      one.face.rows(1, 1)
      #expect(
        one.verifyInOrder {
          $0.rows
          $0.rows
        })
    }
  }
#endif
