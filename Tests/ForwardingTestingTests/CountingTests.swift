// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import ForwardingTestSupport
  import ForwardingTesting
  import Synchronization
  import Testing

  @Suite("Counting calls")
  struct CountingTests {
    let failures = Failures()
    let rows = try! Message<NoResult, Int64>("rows:")

    /// A range expression that is not from the standard library.
    struct Odd: RangeExpression, Sendable {
      func relative<C: Collection>(to collection: C) -> Range<Int> where C.Index == Int { 1..<1 }
      func contains(_ element: Int) -> Bool { element % 2 == 1 }
    }

    private func check(
      _ times: some RangeExpression<Int> & Sendable, _ right: [Bool], _ expected: String?
    ) throws {
      for (count, isRight) in right.enumerated() {
        let failures = Failures()
        let spy = SpyProxy(reportingTo: failures)
        for row in 0..<count { try rows(Int64(row), on: spy) }
        #expect(spy[rows].expect(times: times) == isRight)
        #expect(isRight || failures.all.map(\.expected) == [expected.map { $0 + " of 'rows:'" }])
      }
    }

    @Test("an expectation takes any range, however large its bounds are")
    func ends() throws {
      try check(0...Int.max, [true, true, true], nil)
      try check(5_000_000_000..., [false, false], "at least 5000000000 calls")
      try check(Int.max..., [false], "at least \(Int.max) calls")
      try check(Int.max...Int.max, [false, false], "\(Int.max) calls")
      try check(...(-2), [false, false], "at most -2 calls")
      try check(..<Int.min, [false], "at most \(Int.min) calls")
      try check(Int.min...1, [true, true, false], "at most 1 call")
      try check(..<0, [false, false], "at most -1 calls")
      try check(3..<3, [false, false, false, false], "a number of calls in an empty range")
      try check(1..<3, [false, true, true, false], "1 to 2 calls")
      let spy = SpyProxy(reportingTo: failures)
      #expect(!spy[rows].expect(times: Int.max) && !spy[rows].expect(times: -1))
    }

    @Test("a range of another type is queried for each number")
    func ownRanges() async throws {
      try check(Odd(), [false, true, false, true], "a number of calls in Odd()")
      let spy = SpyProxy(reportingTo: failures)
      try rows(1, on: spy)
      #expect(try await spy[rows].expect(times: Odd(), within: .seconds(600)))
    }

    @Test(
      "a duration that is not positive neither waits nor delays",
      arguments: [
        Duration.zero, .seconds(-1), .seconds(-10_000_000_000), .seconds(Int64.min),
        .nanoseconds(-1),
      ])
    func pastTimes(_ limit: Duration) async throws {
      let spy = SpyProxy(reportingTo: failures)
      #expect(try await !spy[rows].expect(within: limit))
      spy[rows].delayed(by: limit).answer { _ in NoResult() }
      try rows(1, on: spy)
      #expect(try await spy[rows].expect(within: limit))
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

    /// A range expression that calls a closure for each number.
    struct Asking: RangeExpression, Sendable {
      let ask: @Sendable () -> Void
      func relative<C: Collection>(to collection: C) -> Range<Int> where C.Index == Int { 1..<1 }
      func contains(_ element: Int) -> Bool {
        ask()
        return element == 2
      }
    }

    @Test("a range that counts and sends to the spy itself is asked without a lock")
    func askingRange() async throws {
      let spy = SpyProxy(reportingTo: failures)
      try rows(0, on: spy)
      let isFirst = Atomic(true)
      let range = Asking { [rows] in
        guard isFirst.exchange(false, ordering: .relaxed) else { return }
        _ = try? rows(Int64(spy[rows].calls), on: spy)
      }
      #expect(try await spy[rows].expect(times: range, within: .seconds(600)))
      #expect(spy[rows].received == [0, 1])
    }
  }
#endif
