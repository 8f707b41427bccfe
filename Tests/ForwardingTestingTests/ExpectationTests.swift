// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import ForwardingTestSupport
  import ForwardingTesting
  import Invocations
  import Testing

  @Suite("Expectations")
  struct ExpectationTests {
    let failures = Failures()
    let chat = Chat("garden")
    let rows = try! Message<NoResult, Int64>("rows:")

    private func spy() -> Spy<ChatDelegateProxy> {
      Spy<ChatDelegateProxy>(reportingTo: failures)
    }

    @Test("each expected number is met, or the failure has it, however large its bounds are")
    func numbers() throws {
      let table: [(any CallCounts, met: Set<Int>, expected: String)] = [
        (0, [0], "no call"), (1, [1], "1 call"), (2, [2], "2 calls"), (-1, [], "-1 calls"),
        (0...0, [0], "no call"), (2...3, [2, 3], "2 to 3 calls"),
        (0...2, [0, 1, 2], "at most 2 calls"),
        (3..., [3, 4], "at least 3 calls"), (...1, [0, 1], "at most 1 call"),
        (...(-2), [], "at most -2 calls"), (Int.min...1, [0, 1], "at most 1 call"),
        (0...Int.max, [0, 1, 2, 3, 4], ""), (5_000_000_000..., [], "at least 5000000000 calls"),
        (Int.max, [], "\(Int.max) calls"),
      ]
      for (times, met, expected) in table {
        for count in 0...4 {
          let failures = Failures()
          let spy = SpyProxy(reportingTo: failures)
          for row in 0..<count { try rows(Int64(row), on: spy) }
          #expect(spy[rows].expect(times: times) == met.contains(count))
          #expect(
            failures.all.map(\.expected)
              == (met.contains(count) ? [] : [expected + " of 'rows:'"]))
        }
      }
    }

    @Test("calls counted while another thread sends are exactly those marked as seen")
    func countedBeside() throws {
      for _ in 0..<2000 {
        let spy = SpyProxy(reportingTo: failures)
        let rows = rows
        let ended = DispatchGroup()
        ended.enter()
        beginThread {
          for row in 0..<30 { _ = try? rows(Int64(row), on: spy) }
          ended.leave()
        }
        while spy[rows].calls < 30 {}
        ended.wait()
        if !spy.verifyNoMoreCalls() { break }
      }
      #expect(failures.texts.isEmpty)
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
      #expect(failures.all.map(\.place.line) == [0, 1, 2, 3, 4, 5, 7].map { first + $0 })
      #expect(failures.all.allSatisfy { "\($0.place.fileID)" == #fileID })
    }

    @Test("a failure shows the received calls, those of the message first, or in their order")
    func shown() {
      let spy = spy()
      spy.proxy.draft = "x"
      _ = spy.proxy.chat(chat, shouldSend: "hello")
      spy.proxy.chat(chat, move: 1, to: 5)
      spy.proxy.chat(chat, move: 3, to: 4)
      spy.messages.chatMoveTo.where(\.1, equals: 3).where(\.2, equals: 5).expect()
      spy.proxy.rows(1, 2)
      spy.messages.rows.with(3, 5).expect()
      spy.verifyInOrder {
        $0.chatShouldSend
        $0.setDraft
      }
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
          """
          expected a call of 'setDraft:' after 'chat:shouldSend:', received 1 before that
            setDraft:("x")
            chat:shouldSend:(<Chat>, "hello")
            chat:move:to:(<Chat>, 1, 5)
            chat:move:to:(<Chat>, 3, 4)
            rows::(1, 2)
          """,
        ])
      for row in 0..<3 { spy.proxy.rows(row, row) }
      spy.messages.chatDidReceive.expect()
      #expect(failures.texts.last?.hasSuffix("\n  rows::(2, 2)") == true)
      for row in 3..<20 { spy.proxy.rows(row, row) }
      spy.messages.chatDidReceive.expect()
      #expect(failures.texts.last?.split(separator: "\n").count == 10)
      #expect(failures.texts.last?.hasSuffix("\n  … and 17 more") == true)
      #expect(failures.all.last?.received.count == 25)
    }

    @Test("messages of several spies are found in their order, each call once")
    func order() {
      let (one, other) = (spy(), spy())
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
