// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Forwarding
  import ForwardingTestSupport
  import Testing

  @Forwardable
  private protocol Rating: Sendable {
    @Optional func rate(_ number: Int) -> Int?
    @Optional func close()
    @Optional func wait(_ number: Int) async -> Int?
    @Optional func check() throws(CancellationError)
  }

  private struct Plain: Rating {}

  private final class PlainObject: Rating {}

  /// Has the optional requirements, and asks another value first.
  private struct Decorated: Rating {
    let inner: any Rating
    func rate(_ number: Int) -> Int? { inner.rate(number) ?? 5 }
    func close() { inner.close() }
    func wait(_ number: Int) async -> Int? { await inner.wait(number) ?? 6 }
    func check() throws(CancellationError) { try inner.check() }
  }

  @Suite("Values that call others which leave out what they have")
  struct DecoratorTests {
    @Test("the answer of a value that asked another one counts")
    func answers() async throws {
      for inner in [Plain(), PlainObject(), Decorated(inner: Plain())] as [any Rating] {
        let source = DataSource<RatingProxy>()
        source.add(Decorated(inner: inner))
        #expect(source.proxy.rate(1) == 5)
        #expect(await source.proxy.wait(1) == 6)
        let all = Multicast<RatingProxy>()
        all.add(Decorated(inner: inner), once: true)
        all.proxy.close()
        #expect(all.count == 0)
        all.add(Decorated(inner: inner), once: true)
        try all.proxy.check()
        #expect(all.count == 0)
        all.add(Decorated(inner: inner))
        #expect(try all.messages.rate.all(1) == [5])
      }
    }

    @Test("a value that leaves them out still does")
    func leaving() async throws {
      for plain in [Plain(), PlainObject()] as [any Rating] {
        let source = DataSource<RatingProxy>()
        source.add(plain, strongly: true)
        source.add(Decorated(inner: plain))
        #expect(source.proxy.rate(1) == 5)
        #expect(await source.proxy.wait(1) == 6)
        let all = Multicast<RatingProxy>()
        all.add(plain, strongly: true, once: true)
        all.proxy.close()
        #expect(all.count == 1)
        #expect(try all.messages.rate.report(1).answered == 0)
      }
    }
  }
#endif
