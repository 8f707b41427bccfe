// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import Forwarding
  import Testing

  @Suite("What happens after an error")
  struct ErrorRuleTests {
    private struct Way: CustomTestStringConvertible, Sendable {
      let testDescription: String
      var lane = DeliveryLane.caller
      var isOnce = false
      var isWatched = false
      let send: @Sendable (Multicast<HearingProxy>) async throws -> Void
    }

    private static let ways: [Way] = [
      Way(testDescription: "a requirement") { try $0.proxy.mark(1, "") },
      Way(testDescription: "a requirement with a result") { _ = try $0.proxy.check(1) },
      Way(testDescription: "an awaited requirement") { _ = try await $0.proxy.checkLater(1) },
      Way(testDescription: "a requirement that is no message") { try $0.proxy.lend { 1 } },
      Way(testDescription: "once-only targets", isOnce: true) { try $0.proxy.mark(1, "") },
      Way(testDescription: "queues that block", lane: .blocking(DispatchQueue(label: "rules"))) {
        try $0.proxy.mark(1, "")
      },
      Way(testDescription: "a proxy that watches", isWatched: true) { try $0.proxy.mark(1, "") },
      Way(testDescription: "a message by its selector") {
        _ = try Message<Int, Int>("check:")(1, on: $0.untyped)
      },
      Way(testDescription: "all answers") { _ = try $0.messages.check.all(1) },
      Way(testDescription: "a report") {
        if let error = try $0.messages.mark.report(1, "").errors.first { throw error }
      },
      Way(testDescription: "a report of answers") {
        if let error = try $0.messages.check.report(1).errors.first { throw error }
      },
      Way(testDescription: "awaited answers") {
        _ = try await $0.messages.checkLater.all(1, concurrently: false)
      },
    ]

    @Test("the first error ends the delivery at once, or after all targets", arguments: ways)
    private func rules(way: Way) async throws {
      for (rule, expected) in [(ErrorRule.afterAll, ["1", "2", "3"]), (.atOnce, ["1", "2"])] {
        let (story, ways) = (Story(), way.isWatched ? ProxyWay.messages : .calls)
        let targets = Multicast<HearingProxy>(ways.untyped)
        targets.errorRule = rule
        #expect(targets.errorRule == rule)
        for number in 1...3 {
          let ear = Ear(number, story)
          ear.isBroken = number == 2
          targets.add(unchecked: ear, strongly: true, on: way.lane, once: way.isOnce)
        }
        await #expect(throws: Lame(name: "2")) { try await way.send(targets) }
        #expect(story.take().map { String($0.prefix(1)) } == expected, "\(rule)")
      }
    }

    @Test("a target that was left out is reported as not called")
    func report() throws {
      let (targets, story) = (Multicast<HearingProxy>(), Story())
      targets.errorRule = .atOnce
      story.ear(1, in: targets).isBroken = true
      story.ear(2, in: targets)
      let report = try targets.messages.check.report(1)
      #expect(report.entries.map { "\($0.outcome)" }.last == "notCalled")
    }

    @Test("the rule is apart from the others of a multicast")
    func others() {
      let targets = Multicast<HearingProxy>()
      for (results, errors) in [
        (ResultRule.first, ErrorRule.afterAll), (.first, .atOnce), (.last, .atOnce),
        (.last, .afterAll),
      ] {
        targets.resultRule = results
        targets.errorRule = errors
        #expect(targets.resultRule == results)
        #expect(targets.errorRule == errors)
      }
    }
  }
#endif
