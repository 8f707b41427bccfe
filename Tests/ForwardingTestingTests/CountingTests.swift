// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import ForwardingTestSupport
  import ForwardingTesting
  import Testing

  @Suite("Counting calls")
  struct CountingTests {
    let failures = Failures()
    let rows = try! Message<NoResult, Int64>("rows:")

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

    @Test(
      "a duration that is not positive does not wait, and one without an end is no trap",
      arguments: [
        Duration.zero, .seconds(-10_000_000_000), .seconds(Int64.min), .nanoseconds(-1),
        .seconds(Int64.max),
      ])
    func times(_ limit: Duration) async throws {
      let spy = SpyProxy(reportingTo: failures)
      if limit <= .zero { #expect(try await !spy[rows].expect(within: limit)) }
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
  }
#endif
