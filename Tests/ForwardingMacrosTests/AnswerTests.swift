// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import Forwarding
  import ForwardingTestSupport
  import Testing

  @Forwardable
  protocol Voting: AnyObject {
    @Otherwise(true) func allows(_ number: Int) -> Bool
    @Otherwise(0, combine: { $0 + $1 }) func weigh(_ number: Int) -> Int
    @Otherwise(0, combine: { $0 + $1 }) func weighLater(_ number: Int) async -> Int
    func hear(_ number: Int, _ text: String)
  }

  @Forwardable
  protocol Alarming: AnyObject {
    func ring() throws
  }

  @Forwardable
  protocol Storing: AnyObject {
    func value(_ key: Int) throws -> Any
    func found(_ key: Int) -> Any?
  }

  private final class Voter: Voting {
    let limit: Int
    var heard: [String] = []
    init(_ limit: Int) { self.limit = limit }
    func allows(_ number: Int) -> Bool { number < limit }
    func weigh(_ number: Int) -> Int { limit * number }
    func weighLater(_ number: Int) async -> Int { limit * number }
    func hear(_ number: Int, _ text: String) { heard.append("\(number) \(text)") }
  }

  @Suite("Answers of several targets")
  struct AnswerTests {
    private let voters = Multicast<VotingProxy>()
    private let targets = [Voter(1), Voter(10), Voter(100)]

    @Test("a requirement combines the answers of all targets, whatever the rule is")
    func combined() async {
      #expect(voters.proxy.weigh(2) == 0)
      for target in targets { voters.add(target) }
      for rule in [ResultRule.last, .first] {
        voters.resultRule = rule
        #expect(voters.proxy.weigh(2) == 222)
        #expect(await voters.proxy.weighLater(3) == 333)
      }
    }

    @Test("a data source asks one target for an answer that others would combine, awaited or not")
    func one() async {
      let source = DataSource<VotingProxy>()
      for target in targets { source.add(target) }
      #expect(source.proxy.weigh(2) == 2)
      #expect(await source.proxy.weighLater(3) == 3)
    }

    @Test("an answer that a later one overrules is told, unless both are equal")
    func overruled() throws {
      for target in targets { voters.add(target) }
      let told = Guarded<[String]>([])
      voters.onDiagnostic = { event in
        if case .overruled(let token, let selector) = event {
          told.withLock { $0.append("\(token.type) \(selector)") }
        }
      }
      #expect(voters.proxy.allows(1))
      #expect(told.read { $0 } == ["Voter allows:"])
      #expect(voters.proxy.allows(0))
      #expect(told.read { $0.count } == 1)
      #expect(voters.proxy.weigh(1) == 111)
      #expect(told.read { $0.count } == 1)
    }

    @Test("a target on a queue answers too late, which is told")
    func tooLate() {
      let queue = DispatchQueue(label: "late")
      voters.add(unchecked: targets[0], on: .queue(queue))
      voters.add(targets[1])
      let told = Guarded<[String]>([])
      voters.onDiagnostic = { event in
        if case .tooLate(let token, let selector) = event {
          told.withLock { $0.append("\(token.type) \(selector)") }
        }
      }
      #expect(voters.proxy.allows(5))
      #expect(told.read { $0 } == ["Voter allows:"])
      queue.sync {}
    }

    @Test("an answer that comes too late is an event where nobody listens")
    func tooLateEvent() async {
      await #expect(processExitsWith: .success) {
        let told = Guarded<[String]>([])
        ForwardingEvent.destination = .handler { event in
          let type = event.type.map { "\($0)" } ?? ""
          told.withLock { $0.append("\(event.kind) \(type) \(event.selector?.name ?? "")") }
        }
        let (voters, voter) = (Multicast<VotingProxy>(), Voter(1))
        voters.add(unchecked: voter, on: .queue(DispatchQueue(label: "late")))
        _ = voters.proxy.allows(5)
        let events = told.read { $0 }
        require(events == ["lostAnswer Voter allows:"], "\(events)")
      }
    }

    @Test("a multicast says what a requirement without a result does where nothing answers")
    func unanswered() throws {
      let alarms = Multicast<AlarmingProxy>()
      try alarms.proxy.ring()
      alarms.whenNobodyAnswers = .throw
      #expect(throws: ForwardingError.nobodyAnswered("ring")) { try alarms.proxy.ring() }
    }

    @Test("a result of any type is never taken for an answer that nobody gave")
    func anyResult() {
      let stores = Multicast<StoringProxy>()
      stores.whenNobodyAnswers = .zero
      #expect(throws: ForwardingError.nobodyAnswered("value:")) { try stores.proxy.value(1) }
      #expect(stores.proxy.found(1) == nil)
    }

    @Test("a closure takes part for one requirement, until its token removes it")
    func closure() {
      let heard = Guarded<[String]>([])
      let token = voters.on(\.hear) { number, text in
        heard.withLock { $0.append("\(number) \(text)") }
      }
      voters.on(\.allows, once: true) { $0 == 7 }
      voters.proxy.hear(1, "a")
      #expect(heard.read { $0 } == ["1 a"])
      #expect(!voters.proxy.allows(1))
      #expect(voters.proxy.allows(1), "it was for one message")
      #expect(token.remove())
      voters.proxy.hear(2, "b")
      #expect(heard.read { $0 } == ["1 a"])
    }
  }
#endif
