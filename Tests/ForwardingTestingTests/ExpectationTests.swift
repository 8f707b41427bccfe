// SPDX-License-Identifier: Apache-2.0
#if Macros
  import ForwardingTesting
  import Testing

  @Suite("Expectations")
  struct ExpectationTests {
    let failures = Failures()
    let chat = Chat("garden")

    private func spy() -> Spy<ChatDelegateProxy> {
      Spy<ChatDelegateProxy>(reportingTo: failures)
    }

    @Test("a failed expectation is an issue of the test at the line of the expectation")
    func line() {
      let spy = Spy<ChatDelegateProxy>()
      let line = #line + 2
      withKnownIssue {
        spy.messages.chatDidReceive.expect()
      } matching: { issue in
        issue.sourceLocation?.line == line && issue.sourceLocation?.fileID == #fileID
          && issue.comments.contains("expected 1 call of 'chat:didReceive:', received none")
      }
    }

    @Test("each kind of expectation fails at its own line")
    func lines() async throws {
      let spy = spy()
      let first = #line + 1
      spy.messages.chatDidReceive.expect()
      spy.messages.chatDidReceive.expect(times: 1...)
      try await spy.messages.chatDidReceive.expect(within: .milliseconds(1))
      spy.verifyInOrder { $0.chatDidReceive }
      verifyInOrder { spy.messages.chatDidReceive }
      spy.messages.chatDidReceive.reject()
      spy.proxy.chat(chat, didReceive: ChatMessage(""))
      spy.verifyNoMoreCalls()
      #expect(failures.lines == [0, 1, 2, 3, 4, 5, 7].map { first + $0 })
      #expect(failures.all.allSatisfy { "\($0.place.fileID)" == #fileID })
    }

    @Test("a failure shows the received calls, those of the message first")
    func nearest() {
      let spy = spy()
      spy.proxy.draft = "x"
      _ = spy.proxy.chat(chat, shouldSend: "hello")
      spy.proxy.chat(chat, move: 1, to: 5)
      spy.proxy.chat(chat, move: 3, to: 4)
      spy.messages.chatMoveTo.where(\.1, equals: 3).where(\.2, equals: 5).expect()
      spy.proxy.rows(1, 2)
      spy.messages.rows.with(3, 5).expect()
      #expect(
        failures.texts == [
          """
          expected 1 call of 'chat:move:to:' with 3 with 5, received none
            chat:move:to:(<Chat>, 1, 5)
            chat:move:to:(<Chat>, 3, 4)
            setDraft:("x")
            chat:shouldSend:(<Chat>, "hello")
          """,
          """
          expected 1 call of 'rows::'(3, 5), received none
            rows::(1, 2)
            setDraft:("x")
            chat:shouldSend:(<Chat>, "hello")
            chat:move:to:(<Chat>, 1, 5)
            chat:move:to:(<Chat>, 3, 4)
          """,
        ])
    }

    @Test("a failure shows a limited number of calls")
    func manyCalls() {
      let spy = spy()
      for row in 0..<20 { spy.proxy.rows(row, row) }
      spy.messages.chatDidReceive.expect()
      #expect(failures.texts.first?.split(separator: "\n").count == 10)
      #expect(failures.texts.first?.hasSuffix("\n  … and 12 more") == true)
      #expect(failures.all.first?.received.count == 20)
    }

    @Test("verifyNoMoreCalls ignores calls that a test has looked at, and shows the others")
    func noMoreCalls() {
      let spy = spy()
      spy.proxy.rows(1, 2)
      spy.proxy.rows(3, 4)
      spy.proxy.chat(chat, didReceive: ChatMessage("one"))
      _ = spy.proxy.chat(chat, shouldSend: "")
      spy.messages.rows.with(1, 2).expect()
      #expect(spy.messages.chatDidReceive.received.count == 1)
      #expect(spy.messages.chatShouldSend.calls == 1)
      #expect(!spy.verifyNoMoreCalls())
      #expect(failures.texts == ["expected no more calls, received one\n  rows::(3, 4)"])
      spy.verifyInOrder { $0.rows.with(3, 4) }
      #expect(spy.verifyNoMoreCalls())
    }

    @Test("a rejected call fails at the line of the rejection, and is recorded")
    func rejected() {
      let spy = spy()
      spy.messages.rows.where { $0 > $1 }.reject()
      spy.proxy.rows(1, 2)
      #expect(failures.all.isEmpty)
      spy.proxy.rows(2, 1)
      #expect(
        failures.texts == [
          "expected no call of 'rows::' that its closure accepts, received one"
            + "\n  rows::(1, 2)\n  rows::(2, 1)"
        ])
      #expect(spy.messages.rows.calls == 2)
    }
  }
#endif
