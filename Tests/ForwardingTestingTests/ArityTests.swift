// SPDX-License-Identifier: Apache-2.0
#if Macros
  import ForwardingTesting
  import Testing

  @Forwardable
  protocol Adding: AnyObject, Sendable {
    func none() async -> Int?
    func one(_ a: Int) async -> Int?
    func two(_ a: Int, _ b: Int) async -> Int?
    func three(_ a: Int, _ b: Int, _ c: Int) async -> Int?
    func four(_ a: Int, _ b: Int, _ c: Int, _ d: Int) async -> Int?
  }

  @Suite("Answers that suspend")
  struct ArityTests {
    let spy = Spy<AddingProxy>()

    nonisolated(nonsending) private func sums() async -> [Int?] {
      let face = spy.face
      return [
        await face.none(), await face.one(1), await face.two(1, 2), await face.three(1, 2, 3),
        await face.four(1, 2, 3, 4),
      ]
    }

    @Test("closures with any number of arguments can suspend")
    func each() async {
      spy.answer(
        \.none,
        awaiting: {
          await Task.yield()
          return 0
        })
      spy.answer(
        \.one,
        awaiting: { a in
          await Task.yield()
          return a
        })
      spy.answer(
        \.two,
        awaiting: { a, b in
          await Task.yield()
          return a + b
        })
      spy.answer(
        \.three,
        awaiting: { a, b, c in
          await Task.yield()
          return a + b + c
        })
      spy.answer(
        \.four,
        awaiting: { a, b, c, d in
          await Task.yield()
          return a + b + c + d
        })
      #expect(await sums() == [0, 1, 3, 6, 10])
    }

    @Test("messages with any number of arguments can be narrowed and answered")
    func narrowed() async {
      let (proxy, messages) = (spy.proxy, spy.messages)
      @Sendable func late(_ number: Int) async -> Int {
        await Task.yield()
        return number
      }
      proxy.answer(messages.none, awaiting: { await late(0) })
      proxy.answer(messages.one.with(1), awaiting: { a in await late(a) })
      proxy.answer(messages.two.with(1, 2), awaiting: { a, b in await late(a + b) })
      proxy.answer(messages.three.with(0, 0, 0), awaiting: { a, b, c in await late(a + b + c) })
      proxy.answer(
        messages.four.with(1, 2, 3, 4), awaiting: { a, b, c, d in await late(a + b + c + d) })
      #expect(await sums() == [0, 1, 3, nil, 10])
    }
  }
#endif
