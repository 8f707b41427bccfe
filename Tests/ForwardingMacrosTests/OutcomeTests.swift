// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Forwarding
  import Testing

  /// A requirement of each kind.
  @Forwardable
  private protocol Asked: AnyObject, Sendable {
    func tell(_ number: Int)
    func push(_ number: Int) throws
    @Otherwise(-1) func weigh(_ number: Int) -> Int
    func find(_ number: Int) -> Int?
    func check(_ number: Int) throws -> Int
    @Otherwise(-1) func grade(_ number: Int) throws(Lame) -> Int
    @Optional func nap(_ number: Int)
    @Optional @Otherwise(-1) func rest(_ number: Int) -> Int
    @Optional func rate(_ number: Int) throws -> Int
    func tellLater(_ number: Int) async
    func pushLater(_ number: Int) async throws
    @Otherwise(-1) func weighLater(_ number: Int) async -> Int
    func findLater(_ number: Int) async -> Int?
    func checkLater(_ number: Int) async throws -> Int
    @Otherwise(-1) func gradeLater(_ number: Int) async throws(Lame) -> Int
    @Optional func napLater(_ number: Int) async
    @Optional @Otherwise(-1) func restLater(_ number: Int) async -> Int
    @Optional func rateLater(_ number: Int) async throws -> Int
  }

  /// Omits the optional requirement.
  private final class Brief: Asked {
    func tell(_ number: Int) {}
    func push(_ number: Int) throws {}
    func weigh(_ number: Int) -> Int { number }
    func find(_ number: Int) -> Int? { number }
    func check(_ number: Int) throws -> Int { number }
    func grade(_ number: Int) throws(Lame) -> Int { number }
    func tellLater(_ number: Int) async {}
    func pushLater(_ number: Int) async throws {}
    func weighLater(_ number: Int) async -> Int { number }
    func findLater(_ number: Int) async -> Int? { number }
    func checkLater(_ number: Int) async throws -> Int { number }
    func gradeLater(_ number: Int) async throws(Lame) -> Int { number }
  }

  /// Answers with a multiple of the number, and throws without a factor.
  private final class Full: Asked {
    let factor: Int?
    init(_ factor: Int?) { self.factor = factor }

    private func times(_ number: Int) throws(Lame) -> Int {
      guard let factor else { throw Lame(name: "full") }
      return factor * number
    }
    func tell(_ number: Int) {}
    func push(_ number: Int) throws { _ = try times(number) }
    func weigh(_ number: Int) -> Int { (factor ?? 0) * number }
    func find(_ number: Int) -> Int? { factor.map { $0 * number } }
    func check(_ number: Int) throws -> Int { try times(number) }
    func grade(_ number: Int) throws(Lame) -> Int { try times(number) }
    func nap(_ number: Int) {}
    func rest(_ number: Int) -> Int { (factor ?? 0) * number }
    func rate(_ number: Int) throws -> Int { try times(number) }
    func tellLater(_ number: Int) async {}
    func pushLater(_ number: Int) async throws { _ = try times(number) }
    func weighLater(_ number: Int) async -> Int { (factor ?? 0) * number }
    func findLater(_ number: Int) async -> Int? { factor.map { $0 * number } }
    func checkLater(_ number: Int) async throws -> Int { try times(number) }
    func gradeLater(_ number: Int) async throws(Lame) -> Int { try times(number) }
    func napLater(_ number: Int) async {}
    func restLater(_ number: Int) async -> Int { (factor ?? 0) * number }
    func rateLater(_ number: Int) async throws -> Int { try times(number) }
  }

  /// A target that fails where a method of the protocol could not.
  private final class Failing: MethodDeclaring, Sendable {
    static func declareMethods(_ methods: MethodDeclarations) {
      let nothing: [Selector] = [
        "tell:", "push:", "nap:", "tellLater:", "pushLater:", "napLater:",
      ]
      let values: [Selector] = [
        "weigh:", "check:", "grade:", "rest:", "rate:", "weighLater:", "checkLater:", "gradeLater:",
        "restLater:", "rateLater:",
      ]
      for name in nothing {
        methods.register(name) { (_: Failing, _: Int) throws -> Void in throw Lame(name: "raw") }
      }
      for name in values {
        methods.register(name) { (_: Failing, _: Int) throws -> Int in throw Lame(name: "raw") }
      }
      for name in ["find:", "findLater:"] as [Selector] {
        methods.register(name) { (_: Failing, _: Int) throws -> Int? in throw Lame(name: "raw") }
      }
    }
  }

  /// A send, which returns a text for its outcome.
  private struct Sending: Sendable, CustomTestStringConvertible {
    enum Kind { case nothing, nothingOrThrows, value, optional, anyError, oneError }

    let name: String
    let kind: Kind
    var mayBeLeftOut = false
    let send: @Sendable (any Asked) async throws -> Int?
    var testDescription: String { name }

    static let all: [Sending] = [
      Sending(name: "tell:", kind: .nothing) {
        $0.tell(5); return nil
      },
      Sending(name: "push:", kind: .nothingOrThrows) {
        try $0.push(5); return nil
      },
      Sending(name: "weigh:", kind: .value) { $0.weigh(5) },
      Sending(name: "find:", kind: .optional) { $0.find(5) },
      Sending(name: "check:", kind: .anyError) { try $0.check(5) },
      Sending(name: "grade:", kind: .oneError) { try $0.grade(5) },
      Sending(name: "nap:", kind: .nothing, mayBeLeftOut: true) {
        $0.nap(5); return nil
      },
      Sending(name: "rest:", kind: .value, mayBeLeftOut: true) { $0.rest(5) },
      Sending(name: "rate:", kind: .anyError, mayBeLeftOut: true) { try $0.rate(5) },
      Sending(name: "tellLater:", kind: .nothing) {
        await $0.tellLater(5); return nil
      },
      Sending(name: "pushLater:", kind: .nothingOrThrows) {
        try await $0.pushLater(5); return nil
      },
      Sending(name: "weighLater:", kind: .value) { await $0.weighLater(5) },
      Sending(name: "findLater:", kind: .optional) { await $0.findLater(5) },
      Sending(name: "checkLater:", kind: .anyError) { try await $0.checkLater(5) },
      Sending(name: "gradeLater:", kind: .oneError) { try await $0.gradeLater(5) },
      Sending(name: "napLater:", kind: .nothing, mayBeLeftOut: true) {
        await $0.napLater(5); return nil
      },
      Sending(name: "restLater:", kind: .value, mayBeLeftOut: true) { await $0.restLater(5) },
      Sending(name: "rateLater:", kind: .anyError, mayBeLeftOut: true) {
        try await $0.rateLater(5)
      },
    ]

    func outcome(_ proxy: any Asked) async -> String {
      do {
        return try await send(proxy).map { "\($0)" } ?? "nothing"
      } catch ForwardingError.nobodyAnswered {
        return "throws nobodyAnswered"
      } catch ForwardingError.targetGone {
        return "throws targetGone"
      } catch is Lame {
        return "throws it"
      } catch { return "throws \(error)" }
    }
  }

  /// The targets of a send. Those that omit the requirement or fail are first.
  private enum Targets: CaseIterable {
    case one, two, none, leaving, leavingBesideOne, failing, failingBesideOne
  }

  /// The proxy behind the proxy.
  private enum Behind: CaseIterable {
    case calls, messages, dataSource, single, singleByMessages

    var isSingle: Bool { self == .single || self == .singleByMessages }
  }

  /// The result of the sender, and the diagnostics of its proxy.
  private let table: [Sending.Kind: [Targets: String]] = [
    .nothing: [
      .one: "nothing", .two: "nothing", .none: "nothing, unanswered",
      .leaving: "nothing, unanswered", .leavingBesideOne: "nothing",
      .failing: "nothing, unheard", .failingBesideOne: "nothing, unheard",
    ],
    .nothingOrThrows: [
      .one: "nothing", .two: "nothing", .none: "nothing, unanswered", .failing: "throws it",
      .failingBesideOne: "throws it",
    ],
    .value: [
      .one: "5", .two: "10", .none: "-1", .leaving: "-1",
      .leavingBesideOne: "10", .failing: "-1, unheard", .failingBesideOne: "5, unheard",
    ],
    .optional: [
      .one: "5", .two: "10", .none: "nothing, unanswered", .failing: "nothing, unheard",
      .failingBesideOne: "5, unheard",
    ],
    .anyError: [
      .one: "5", .two: "10", .none: "throws nobodyAnswered, unanswered",
      .leaving: "throws nobodyAnswered, unanswered", .leavingBesideOne: "10",
      .failing: "throws it", .failingBesideOne: "throws it",
    ],
    .oneError: [
      .one: "5", .two: "10", .none: "-1", .failing: "throws it",
      .failingBesideOne: "throws it",
    ],
  ]

  /// The outcome for a given proxy, where it differs from the table.
  private func outcome(_ sending: Sending, _ targets: Targets, _ behind: Behind) -> String? {
    guard let outcome = table[sending.kind]?[targets] else { return nil }
    switch (behind.isSingle ? .single : behind, targets) {
    // Only the first target that answers is asked.
    case (.dataSource, .two): return table[sending.kind]?[.one]
    // An error ends the asking.
    case (.dataSource, .failingBesideOne):
      return table[sending.kind]?[.failing]
    case (.single, .two), (.single, .leavingBesideOne), (.single, .failingBesideOne): return nil
    // Its target may be deallocated, which a requirement that throws reports as an error.
    case (.single, .none)
    where sending.kind == .nothingOrThrows || sending.kind == .anyError:
      return "throws targetGone, unanswered"
    // The message is passed on to the target, and the proxy does not see that it leaves it out.
    case (.single, .leaving) where behind == .singleByMessages:
      return String(outcome.prefix { $0 != "," })
    default: return outcome
    }
  }

  @Suite("The results of a requirement's sender", .timeLimit(.minutes(60)))
  struct OutcomeTests {
    private func send(
      _ sending: Sending, to targets: Targets, behind: Behind
    ) async -> String {
      let asked: [any Asked] =
        switch targets {
        case .one, .failingBesideOne: [Full(1)]
        case .two: [Full(1), Full(2)]
        case .none, .failing: []
        case .leaving: [Brief()]
        case .leavingBesideOne: [Brief(), Full(2)]
        }
      let fails = targets == .failing || targets == .failingBesideOne
      let multicast: Multicast<AskedProxy> =
        switch behind {
        case .messages: Multicast(MessagesAlone())
        case .dataSource: DataSource()
        case .single: SingleTarget()
        case .singleByMessages: Multicast(MessagesAlone(one: nil))
        case .calls: Multicast()
        }
      let story = Story()
      story.listen(to: multicast.untyped)
      if fails { multicast.untyped.add(Failing(), strongly: true) }
      for target in asked { multicast.add(target, strongly: true) }
      let outcome = await sending.outcome(multicast.proxy)
      return ([outcome] + story.take().map { String($0.prefix { $0 != " " }) })
        .joined(separator: ", ")
    }

    // The table is also in Documentation/Delegates.md.
    @Test("the result is that of the table", arguments: Sending.all, Targets.allCases)
    private func table(_ sending: Sending, _ targets: Targets) async {
      if !sending.mayBeLeftOut, targets == .leaving || targets == .leavingBesideOne { return }
      for behind in Behind.allCases {
        guard let expected = outcome(sending, targets, behind) else { continue }
        // An omitted requirement is known from the second call on.
        for _ in 0..<2 {
          let outcome = await send(sending, to: targets, behind: behind)
          #expect(outcome == expected, "\(behind)")
        }
      }
    }

    @Test("the error of a target is thrown with its type, also without a message")
    private func typed() async {
      for sending in Sending.all
      where [.nothingOrThrows, .anyError, .oneError].contains(sending.kind) {
        let (multicast, single) = (
          Multicast<AskedProxy>(), SingleTarget<AskedProxy>(Full(nil), strongly: true)
        )
        multicast.add(Full(nil), strongly: true)
        multicast.add(Full(1), strongly: true)
        #expect(await sending.outcome(multicast.proxy) == "throws it", "\(sending.name)")
        #expect(await sending.outcome(single.proxy) == "throws it", "\(sending.name)")
      }
    }
  }
#endif
