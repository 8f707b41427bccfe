// SPDX-License-Identifier: Apache-2.0
#if Macros
  import ForwardingTesting
  import Testing

  @Suite("Narrowed messages")
  struct MatchingTests {
    let spy = Spy<ChatDelegateProxy>()

    init() {
      for (first, last) in [(1, 1), (1, 2), (2, 2)] { spy.proxy.rows(first, last) }
    }

    @Test("calls can be selected by a closure, by all arguments, or by one argument's position")
    func chosen() {
      let rows = spy.messages.rows
      #expect(rows.where { $0 == $1 }.calls == 2)
      #expect(rows.with(1, 2).calls == 1)
      #expect(rows.where(\.1, equals: 2).received.map(\.0) == [1, 2])
      #expect(rows.where(\.0, equals: 1).where { $1 > 1 }.received.map(\.1) == [2])
      // A closure that throws does not match.
      let some = rows.where { first, _ in
        if first == 1 { return true }
        throw Offline()
      }
      #expect(some.calls == 2)
    }
  }
#endif
