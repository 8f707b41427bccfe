// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import Invocations
import Testing
import TypeEncodings

/// A rule of deliveries: steps, and what comes of them in each way of sending. Slot 0 is added
/// strongly, and slot 3 has no method for the message.
private struct Rule: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let steps: [Step]
  let expected: [String]
  let ways: [Setting.Way]

  init(
    _ promise: String, _ steps: [Step], _ expected: [String],
    in ways: [Setting.Way] = [.message, .report, .awaited, .queue, .actor]
  ) {
    (testDescription, self.steps, self.expected, self.ways) = (promise, steps, expected, ways)
  }
}

private let rules = [
  Rule(
    "targets are called in the order of their registrations", [.add(1), .add(4), .add(2), .tell()],
    ["called 1", "called 4", "called 2", "sent"]),
  Rule(
    "a higher priority is called first, and among equals the older",
    [.add(1), .add(2, priority: 1), .add(4, priority: -1), .add(5, priority: 1), .tell()],
    ["called 2", "called 5", "called 1", "called 4", "sent"]),
  Rule(
    "a dead target is skipped, and its registration removed",
    [.add(1), .add(2), .kill(1), .tell(), .count],
    ["called 2", "sent", "1 1 [2] [false, true]"]),
  Rule("a strong target stays", [.add(0), .kill(0), .tell()], ["called 0", "sent"]),
  Rule(
    "a target without the method is skipped", [.add(3), .add(1), .tell()], ["called 1", "sent"]),
  Rule(
    "a target that is added again is called once, at its new priority",
    [.add(1), .add(2), .add(2, priority: 1), .tell()], ["called 2", "called 1", "sent"]),
  Rule(
    "where duplicates are allowed, it is called twice",
    [.allowDuplicates(true), .add(1), .add(2), .add(1), .tell()],
    ["called 1", "called 2", "called 1", "sent"]),
  Rule(
    "a target on two lanes is called on both, and removed from one by its token",
    [.add(1), .add(1, isBlocking: true), .tell(), .remove(1), .remove(1), .tell()],
    ["called 1", "called 1", "sent", "true", "false", "called 1", "sent"],
    in: [.message, .report, .awaited]),
  Rule(
    "a registration for one message ends with it", [.add(1, once: true), .tell(), .tell(), .count],
    ["called 1", "sent", "sent", "0 0 [] [false]"]),
  Rule(
    "all messages win over one",
    [.add(1, once: true), .add(1), .add(1, once: true), .tell(), .tell()],
    ["called 1", "sent", "called 1", "sent"]),
  Rule(
    "a registration is resumed as often as it was suspended",
    [
      .add(1), .suspend(0), .suspend(0), .tell(), .resume(0), .tell(), .resume(0), .resume(0),
      .tell(),
    ], ["true", "true", "sent", "true", "sent", "true", "false", "called 1", "sent"]),
  Rule(
    "a target is removed with all its registrations",
    [.allowDuplicates(true), .add(1), .add(2), .add(1, priority: 1), .removeTarget(1), .tell()],
    ["true 2", "called 2", "sent"]),
  Rule(
    "a group is removed at once, and the latest group counts",
    [.add(1, group: 0), .add(2, group: 0), .add(1, group: 1), .removeGroup(0), .tell()],
    ["1", "called 1", "sent"]),
  Rule(
    "after removing all nobody is called", [.add(1), .add(2), .removeAll, .tell()], ["2", "sent"]),
  Rule(
    "a scope ends its registration", [.scope(1), .tell(), .endScope(0), .tell()],
    ["called 1", "sent", "ended", "sent"]),
  Rule(
    "a target that an earlier one removes is skipped",
    [.add(1), .add(2), .add(4), .tell(.removeTarget(2))],
    ["called 1", "true 1", "called 4", "sent"]),
  Rule(
    "a target that an earlier one adds gets the next message",
    [.add(1), .add(2), .tell(.add(4)), .tell()],
    ["called 1", "called 2", "sent", "called 1", "called 2", "called 4", "sent"]),
  Rule(
    "a target that an earlier one suspends is skipped", [.add(1), .add(2), .tell(.suspend(1))],
    ["called 1", "true", "sent"], in: [.message, .report, .awaited]),
  Rule(
    "a target may leave and release itself", [.add(1), .add(2), .tell(.removeTarget(1)), .tell()],
    ["called 1", "true 1", "called 2", "sent", "called 2", "sent"]),
  Rule(
    "a target may send again, to the targets as they are then",
    [.add(2), .add(4), .tell(.removeTarget(4), .count), .tell(.tell(.fail))],
    ["called 2", "true 1", "sent", "called 2", "called 2", "threw 2", "sent"],
    in: [.message, .report]),
  Rule(
    "after an error the next targets are called, and the first error is thrown",
    [.add(2), .add(4), .add(5), .tell(.fail, .fail)],
    ["called 2", "called 4", "called 5", "threw 2"], in: [.message, .awaited, .queue, .actor]),
  Rule(
    "the last answer counts, or the first by choice, which ends the delivery",
    [.add(1), .add(2), .ask(), .firstAnswer(true), .ask()],
    ["called 1", "called 2", "2", "called 1", "1"], in: [.message, .report, .awaited]),
  Rule(
    "without an answer there is an error, or zero by choice", [.ask(), .zero(true), .ask()],
    ["nobodyAnswered", "0"], in: [.message, .awaited]),
]

@Suite("The rules of deliveries, in each way of sending")
struct DeliveryRulesTests {
  @Test("each way of sending keeps the rules of delivery", arguments: rules)
  fileprivate func holds(_ rule: Rule) async {
    for way in rule.ways {
      let transcript = await RealWorld(Setting(way: way)).take(all: rule.steps)
      let said = transcript.filter { !$0.isEmpty && !$0.hasPrefix("#") }
      #expect(said == rule.expected, "\(way)")
    }
  }

  /// The error that a sender gets, or that of the ticket.
  private func error(_ way: Setting.Way, of proxy: MulticastProxy) async -> (any Error)? {
    do {
      if way == .message { try did(1, on: proxy) }
      if way == .awaited { try await did(1, on: proxy, concurrently: false) }
      for entry in try did.report(1, on: proxy).entries {
        let outcome = await entry.ticket?.value() ?? entry.outcome
        if let error = outcome.error { return error }
      }
      return nil
    } catch { return error }
  }

  private func lane(_ way: Setting.Way) -> DeliveryLane {
    way == .queue ? .queue(.global()) : way == .actor ? .mainActor : .caller
  }

  @Test(
    "a circle of proxies is an error",
    arguments: [Setting.Way.message, .report, .awaited, .queue, .actor])
  func circle(_ way: Setting.Way) async throws {
    let (log, one, two) = (Log(), MulticastProxy(), MulticastProxy())
    let listener = Listener("x", log)
    one.add(two, on: lane(way))
    two.add(one)
    two.add(listener)
    for isListed in [false, true] {
      // A message without an answer is enough to make the lists that deliveries share.
      if isListed { for proxy in [one, two] { try Message<NoResult>("nothing")(on: proxy) } }
      let error = await error(way, of: one) as? InvocationError
      #expect(error == .forwardingCycle("did:", type: SwiftType(MulticastProxy.self)))
      #expect(log.all == ["x 1"])
      log.clear()
    }
    withExtendedLifetime((one, two, listener)) {}
  }

  @Test("a question that comes back to its proxy is an error, whatever answers are wanted")
  func circleOfQuestions() {
    let (proxy, value) = (MulticastProxy(), Messages.value)
    proxy.add(proxy)
    proxy.add(Listener("1", Log()), strongly: true)
    let cycle = InvocationError.forwardingCycle("value", type: SwiftType(MulticastProxy.self))
    #expect(throws: cycle) { try value(on: proxy) }
    #expect(throws: cycle) { try value.all(on: proxy) }
    #expect(throws: cycle) { try value.first(on: proxy) }
    #expect(throws: cycle) { try proxy.answers(to: value.invocation(), as: Int32.self) }
  }

  @Test(
    "more than 200 nested proxies are an error",
    arguments: [Setting.Way.message, .report, .awaited])
  func depth(_ way: Setting.Way) async {
    var proxies = [MulticastProxy()]
    for _ in 0..<200 {
      let proxy = MulticastProxy()
      proxy.add(proxies[proxies.count - 1])
      proxies.append(proxy)
    }
    let error = await error(way, of: proxies[200]) as? InvocationError
    #expect(error == .forwardedTooDeeply("did:", limit: 200))
    withExtendedLifetime(proxies) {}
  }

  @Test("a token removes nothing from another proxy")
  func tokens() {
    let (proxy, other, target) = (MulticastProxy(), MulticastProxy(), Listener("x", Log()))
    let (one, two) = (proxy.add(target), other.add(target))
    #expect(one != two && !proxy.remove(two) && !other.contains(one))
    #expect(two.remove() && !other.contains(target) && proxy.contains(target))
  }

  @Test("a target that is made strong is released once, when it is removed")
  func strong() throws {
    let (proxy, log) = (MulticastProxy(), Log())
    var target: ClosureTarget? = ClosureTarget()
    weak let seen = target
    try target?.register("did:") { [weak target] (value: Int32) in
      if let target { proxy.add(target, strongly: true) }
      log.add("\(value)")
    }
    proxy.add(target!)
    for value in 1...2 { try did(Int32(value), on: proxy) }
    // It stays strong.
    proxy.add(target!)
    target = nil
    try did(3, on: proxy)
    #expect(log.all == ["1", "2", "3"])
    proxy.removeAll()
    #expect(seen == nil)
  }

  @Test("targets are listed, and a proxy responds to what one of them has")
  func listing() throws {
    let (proxy, listener, closure) = (MulticastProxy(), Listener("1", Log()), ClosureTarget())
    proxy.add(listener)
    proxy.add(closure)
    #expect(proxy.targets.elementsEqual([listener, closure] as [AnyObject], by: ===))
    #expect(proxy.responds(to: "did:") && !proxy.responds(to: "none"))
    withExtendedLifetime((listener, closure)) {}
  }

  @Test("a query through a circle of proxies returns no")
  func queries() throws {
    let (one, two, many) = (MulticastProxy(one: nil), MulticastProxy(one: nil), MulticastProxy())
    one.add(one)
    two.add(InterceptingProxy(two), strongly: true)
    many.add(many)
    let source = MulticastProxy(asksOne: true)
    source.setFallback(source)
    for object in [one, two, many, source] {
      #expect(!Introspection.responds(object, to: "unheard:"))
      #expect(Introspection.signature(of: object, for: "unheard:") == nil)
      #expect(try !Introspection.conforms(object, to: ProtocolDescription("Unheard")))
      #expect(throws: (any Error).self) { try Message<Int32>("unheard")(on: object) }
    }
  }
}
