// SPDX-License-Identifier: Apache-2.0
#if Macros
  import ForwardingTesting
  import Testing

  @Suite("The order of calls")
  struct OrderTests {
    let failures = Failures()

    @Test("messages of several spies are found in their order, each call once")
    func order() {
      let one = Spy<ChatDelegateProxy>(reportingTo: failures)
      let other = Spy<ChatDelegateProxy>(reportingTo: failures)
      let (ours, theirs) = (one.messages.rows, other.messages.rows)
      func comes<Result>(
        _ first: SpiedMessage<Result, Int, Int>, before second: SpiedMessage<Result, Int, Int>
      ) -> Bool {
        verifyInOrder {
          first
          second
        }
      }
      one.proxy.rows(1, 1)
      other.proxy.rows(2, 2)
      #expect(comes(ours, before: theirs))
      #expect(!comes(ours, before: ours))
      one.proxy.rows(3, 3)
      #expect(failures.all.map(\.received) == [["rows::(1, 1)"]])
      #expect(comes(ours, before: ours))
      #expect(comes(theirs, before: ours.with(3, 3)))
      #expect(!comes(theirs, before: ours.with(1, 1)))
      #expect(failures.all.last?.received == ["rows::(1, 1)", "rows::(2, 2)", "rows::(3, 3)"])
    }

    @Test("another order is a failure with the received calls in their order")
    func outOfOrder() {
      let spy = Spy<ChatDelegateProxy>(reportingTo: failures)
      let chat = Chat("garden")
      spy.proxy.chat(chat, didReceive: ChatMessage("hello"))
      _ = spy.proxy.chat(chat, shouldSend: "hello")
      #expect(
        !spy.verifyInOrder {
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
  }
#endif
