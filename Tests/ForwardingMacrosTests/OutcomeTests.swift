// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import Forwarding
  import ForwardingTestSupport
  import Foundation
  import Testing
  import TypeEncodings

  /// A requirement of each kind, of objects and of values.
  @Forwardable
  private protocol Asked: Sendable {
    func tell(_ number: Int)
    func push(_ number: Int) throws
    @Otherwise(-1) func weigh(_ number: Int) -> Int
    func find(_ number: Int) -> Int?
    func check(_ number: Int) throws -> Int
    @Otherwise(-1) func grade(_ number: Int) throws(Lame) -> Int
    @Optional func nap(_ number: Int)
    @Optional @Otherwise(nobody()) func rest(_ number: Int) -> Int
    @Optional @Otherwise(nobody()) var pause: Int { get }
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
    @Otherwise(throw: closed) func pass(_ number: Int) throws(Lame) -> Int
    @Otherwise(throw: closed) func passLater(_ number: Int) async throws(Lame) -> Int
    @Otherwise(throw: closed) func visit(_ number: Int) throws -> Int
    @Otherwise(throw: closed) func visitLater(_ number: Int) async throws -> Int
    @Otherwise(throw: closed) func admit(_ number: Int) throws(Lame)
    @Otherwise(throw: closed) func admitLater(_ number: Int) async throws(Lame)
    @Otherwise(throw: closed) func authorize(_ number: Int) throws
    @Otherwise(throw: closed) func authorizeLater(_ number: Int) async throws
    @Optional @Otherwise(throw: closed) func bypass(_ number: Int) throws(Lame) -> Int
    @Optional @Otherwise(throw: closed)
    mutating func bypassLater(_ number: Int) async throws(Lame) -> Int
    @Optional @Otherwise(throw: closed) mutating func bypassQuietly(_ number: Int) throws
    @Otherwise(throw: closed) var width: Int { get throws(Lame) }
    @Otherwise(throw: closed) subscript(number: Int) -> Int { get throws(Lame) }
    @Otherwise(throw: closed) func weighAny<Value>(_ value: Value) throws(Lame) -> Int
    @Otherwise(throw: closed) static func make() throws(Lame) -> Int
  }

  /// A default value that calls an optional requirement of another proxy.
  private func nobody() -> Int {
    idle.proxy.nap(5)
    return -1
  }

  /// Its only target leaves out what it is asked.
  private let idle: Multicast<AskedProxy> = {
    let idle = Multicast<AskedProxy>()
    idle.onDiagnostic = { _ in }
    idle.add(Brief(), strongly: true)
    return idle
  }()

  /// What a requirement that fails closed throws where no target answers.
  private let closed = Lame(name: "closed")

  /// Answers with a multiple of the number, and throws without a factor. Leaves out what it may.
  private protocol Answering: Asked { var factor: Int? { get } }

  extension Answering {
    fileprivate func times(_ number: Int) throws(Lame) -> Int {
      guard let factor else { throw Lame(name: "it") }
      return factor * number
    }
    fileprivate func timesLater(_ number: Int) async throws(Lame) -> Int {
      await Task.yield()
      return try times(number)
    }
    func tell(_ number: Int) {}
    func push(_ number: Int) throws { _ = try times(number) }
    func weigh(_ number: Int) -> Int { (factor ?? 0) * number }
    func find(_ number: Int) -> Int? { factor.map { $0 * number } }
    func check(_ number: Int) throws -> Int { try times(number) }
    func grade(_ number: Int) throws(Lame) -> Int { try times(number) }
    func tellLater(_ number: Int) async {}
    func pushLater(_ number: Int) async throws { _ = try await timesLater(number) }
    func weighLater(_ number: Int) async -> Int { weigh(number) }
    func findLater(_ number: Int) async -> Int? { find(number) }
    func checkLater(_ number: Int) async throws -> Int { try await timesLater(number) }
    func gradeLater(_ number: Int) async throws(Lame) -> Int { try await timesLater(number) }
    func pass(_ number: Int) throws(Lame) -> Int { try times(number) }
    func passLater(_ number: Int) async throws(Lame) -> Int { try await timesLater(number) }
    func visit(_ number: Int) throws -> Int { try times(number) }
    func visitLater(_ number: Int) async throws -> Int { try await timesLater(number) }
    func admit(_ number: Int) throws(Lame) { _ = try times(number) }
    func admitLater(_ number: Int) async throws(Lame) { _ = try await timesLater(number) }
    func authorize(_ number: Int) throws { _ = try times(number) }
    func authorizeLater(_ number: Int) async throws { _ = try await timesLater(number) }
    var width: Int { get throws(Lame) { try times(5) } }
    subscript(number: Int) -> Int { get throws(Lame) { try times(number) } }
    func weighAny<Value>(_ value: Value) throws(Lame) -> Int { try times(5) }
    static func make() throws(Lame) -> Int { 5 }
  }

  /// Leaves out nothing.
  private protocol Complete: Answering {}

  extension Complete {
    func nap(_ number: Int) {}
    func rest(_ number: Int) -> Int { weigh(number) }
    var pause: Int { weigh(5) }
    func rate(_ number: Int) throws -> Int { try times(number) }
    func napLater(_ number: Int) async {}
    func restLater(_ number: Int) async -> Int {
      await Task.yield()
      return weigh(number)
    }
    func rateLater(_ number: Int) async throws -> Int { try await timesLater(number) }
    func bypass(_ number: Int) throws(Lame) -> Int { try times(number) }
    func bypassLater(_ number: Int) async throws(Lame) -> Int { try await timesLater(number) }
    func bypassQuietly(_ number: Int) throws { _ = try times(number) }
  }

  private final class Brief: Answering { let factor: Int? = 1 }
  private struct BriefValue: Answering { var factor: Int? { 1 } }
  private final class Full: Complete {
    let factor: Int?
    init(_ factor: Int?) { self.factor = factor }
  }
  private struct FullValue: Complete { let factor: Int? }

  /// Asks another one first, which may leave out what it is asked.
  private struct Decorated: Answering {
    let inner: any Asked
    var factor: Int? { 1 }
    func rest(_ number: Int) -> Int { max(inner.rest(number), 5) }
    func restLater(_ number: Int) async -> Int { max(await inner.restLater(number), 6) }
    func nap(_ number: Int) { inner.nap(number) }
    func bypassQuietly(_ number: Int) throws {
      var inner = inner
      try? inner.bypassQuietly(number)
    }
  }

  /// A target that fails where a method of the protocol could not: with the error that some
  /// requirements have, or with one that none has.
  private final class Failing: MethodDeclaring, Sendable {
    let error: any Error
    init(_ error: any Error = Lame(name: "it")) { self.error = error }

    static func declareMethods(_ methods: MethodDeclarations) {
      for sending in Sending.all where sending.mayFail {
        let selector = Selector(stringLiteral: sending.name)
        switch sending.kind {
        case .nothing, .nothingOrThrows, .closedNothing, .closedNothingOrThrows:
          methods.register(selector) { (target: Failing, _: Int) throws -> Void in
            throw target.error
          }
        case .optional:
          methods.register(selector) { (target: Failing, _: Int) throws -> Int? in
            throw target.error
          }
        case .value where sending.name == "pause", .closed where sending.name == "width":
          methods.register(selector) { (target: Failing) throws -> Int in throw target.error }
        case .value, .anyError, .oneError, .closed, .closedAnyError:
          methods.register(selector) { (target: Failing, _: Int) throws -> Int in
            throw target.error
          }
        }
      }
    }
  }

  /// A send, which returns a text for its outcome.
  private struct Sending: Sendable, CustomTestStringConvertible {
    enum Kind {
      case nothing, nothingOrThrows, value, optional, anyError, oneError
      case closed, closedNothing, closedAnyError, closedNothingOrThrows
    }

    let name: String
    let kind: Kind
    let mayBeLeftOut: Bool
    let send: @Sendable (any Asked) async throws -> Int?
    var testDescription: String { name }
    /// Whether it can be a message.
    var isMessage: Bool { name != "weighAny:" }
    /// Whether `Failing` has a method for it.
    var mayFail: Bool { isMessage && name != "subscript:" }
    var isAwaited: Bool { name.hasSuffix("Later:") }
    /// Whether a method of the protocol may throw.
    var mayThrow: Bool { ![.nothing, .value, .optional].contains(kind) }

    init(
      _ name: String, _ kind: Kind, mayBeLeftOut: Bool = false,
      _ send: @escaping @Sendable (any Asked) async throws -> Int?
    ) {
      (self.name, self.kind, self.mayBeLeftOut, self.send) = (name, kind, mayBeLeftOut, send)
    }

    init(
      telling name: String, _ kind: Kind, mayBeLeftOut: Bool = false,
      _ tell: @escaping @Sendable (any Asked) async throws -> Void
    ) {
      self.init(name, kind, mayBeLeftOut: mayBeLeftOut) {
        try await tell($0)
        return nil
      }
    }

    static let all: [Sending] = [
      Sending(telling: "tell:", .nothing) { $0.tell(5) },
      Sending(telling: "push:", .nothingOrThrows) { try $0.push(5) },
      Sending("weigh:", .value) { $0.weigh(5) },
      Sending("find:", .optional) { $0.find(5) },
      Sending("check:", .anyError) { try $0.check(5) },
      Sending("grade:", .oneError) { try $0.grade(5) },
      Sending(telling: "nap:", .nothing, mayBeLeftOut: true) { $0.nap(5) },
      Sending("rest:", .value, mayBeLeftOut: true) { $0.rest(5) },
      Sending("pause", .value, mayBeLeftOut: true) { $0.pause },
      Sending("rate:", .anyError, mayBeLeftOut: true) { try $0.rate(5) },
      Sending(telling: "tellLater:", .nothing) { await $0.tellLater(5) },
      Sending(telling: "pushLater:", .nothingOrThrows) { try await $0.pushLater(5) },
      Sending("weighLater:", .value) { await $0.weighLater(5) },
      Sending("findLater:", .optional) { await $0.findLater(5) },
      Sending("checkLater:", .anyError) { try await $0.checkLater(5) },
      Sending("gradeLater:", .oneError) { try await $0.gradeLater(5) },
      Sending(telling: "napLater:", .nothing, mayBeLeftOut: true) { await $0.napLater(5) },
      Sending("restLater:", .value, mayBeLeftOut: true) { await $0.restLater(5) },
      Sending("rateLater:", .anyError, mayBeLeftOut: true) { try await $0.rateLater(5) },
      Sending("pass:", .closed) { try $0.pass(5) },
      Sending("passLater:", .closed) { try await $0.passLater(5) },
      Sending("width", .closed) { try $0.width },
      Sending("subscript:", .closed) { try $0[5] },
      Sending("weighAny:", .closed) { try $0.weighAny("") },
      Sending("bypass:", .closed, mayBeLeftOut: true) { try $0.bypass(5) },
      Sending("bypassLater:", .closed, mayBeLeftOut: true) {
        var proxy = $0
        return try await proxy.bypassLater(5)
      },
      Sending(telling: "admit:", .closedNothing) { try $0.admit(5) },
      Sending(telling: "admitLater:", .closedNothing) { try await $0.admitLater(5) },
      Sending("visit:", .closedAnyError) { try $0.visit(5) },
      Sending("visitLater:", .closedAnyError) { try await $0.visitLater(5) },
      Sending(telling: "authorize:", .closedNothingOrThrows) { try $0.authorize(5) },
      Sending(telling: "authorizeLater:", .closedNothingOrThrows) {
        try await $0.authorizeLater(5)
      },
      Sending(telling: "bypassQuietly:", .closedNothingOrThrows, mayBeLeftOut: true) {
        var proxy = $0
        try proxy.bypassQuietly(5)
      },
    ]

    func outcome(_ proxy: any Asked) async -> String {
      do {
        return try await send(proxy).map { "\($0)" } ?? "nothing"
      } catch ForwardingError.nobodyAnswered {
        return "throws nobodyAnswered"
      } catch ForwardingError.targetGone {
        return "throws targetGone"
      } catch let error as Lame {
        return "throws \(error.name)"
      } catch { return "throws \(error)" }
    }
  }

  /// The targets of a send. Those that omit the requirement or fail are first: as only a message
  /// can, with the requirement's error or a stranger, or by throwing as the requirement may.
  private enum Targets: CaseIterable {
    case one, two, none, leaving, leavingBesideOne, failing, failingBesideOne
    case stranger, throwing, throwingBesideOne
  }

  /// The proxy behind the proxy.
  private enum Behind: CaseIterable {
    case calls, messages, blocking, deadline, outer, queue, dataSource, fallback
    case single, singleByMessages, outerByMessages, values, valuesByMessages

    var isSingle: Bool { self == .single || self == .singleByMessages }
    var isOuter: Bool { self == .outer || self == .outerByMessages }
    var hasValues: Bool { self == .values || self == .valuesByMessages }
    /// Whether a target gets nothing that cannot be a message.
    var takesMessages: Bool {
      let messages: [Behind] = [.messages, .singleByMessages, .outerByMessages, .valuesByMessages]
      return messages.contains(self) || [.deadline, .queue, .outer].contains(self)
    }
    func brief() -> any Asked { hasValues ? BriefValue() : Brief() }
    func full(_ factor: Int?) -> any Asked {
      hasValues ? FullValue(factor: factor) : Full(factor)
    }
  }

  /// The result of the sender, and the diagnostics of its proxy.
  private let table: [Sending.Kind: [Targets: String]] = [
    .nothing: [
      .one: "nothing", .two: "nothing", .none: "nothing, unanswered",
      .leaving: "nothing, unanswered", .leavingBesideOne: "nothing",
      .failing: "nothing, unheard", .failingBesideOne: "nothing, unheard",
      .stranger: "nothing, unheard",
    ],
    .nothingOrThrows: [
      .one: "nothing", .two: "nothing", .none: "nothing, unanswered", .failing: "throws it",
      .failingBesideOne: "throws it", .stranger: "throws CancellationError()",
      .throwing: "throws it", .throwingBesideOne: "throws it",
    ],
    .value: [
      .one: "5", .two: "10", .none: "-1", .leaving: "-1",
      .leavingBesideOne: "10", .failing: "-1, unheard", .failingBesideOne: "5, unheard",
      .stranger: "-1, unheard",
    ],
    .optional: [
      .one: "5", .two: "10", .none: "nothing, unanswered", .failing: "nothing, unheard",
      .failingBesideOne: "5, unheard", .stranger: "nothing, unheard",
    ],
    .anyError: [
      .one: "5", .two: "10", .none: "throws nobodyAnswered, unanswered",
      .leaving: "throws nobodyAnswered, unanswered", .leavingBesideOne: "10",
      .failing: "throws it", .failingBesideOne: "throws it",
      .stranger: "throws CancellationError()", .throwing: "throws it",
      .throwingBesideOne: "throws it",
    ],
    .oneError: [
      .one: "5", .two: "10", .none: "-1", .failing: "throws it",
      .failingBesideOne: "throws it", .stranger: "-1, unheard", .throwing: "throws it",
      .throwingBesideOne: "throws it",
    ],
    .closed: [
      .one: "5", .two: "10", .none: "throws closed", .leaving: "throws closed",
      .leavingBesideOne: "10", .failing: "throws it", .failingBesideOne: "throws it",
      .stranger: "throws closed, unheard", .throwing: "throws it", .throwingBesideOne: "throws it",
    ],
    .closedNothing: [
      .one: "nothing", .two: "nothing", .none: "throws closed", .failing: "throws it",
      .failingBesideOne: "throws it", .stranger: "throws closed, unheard",
      .throwing: "throws it", .throwingBesideOne: "throws it",
    ],
    .closedAnyError: [
      .one: "5", .two: "10", .none: "throws closed", .failing: "throws it",
      .failingBesideOne: "throws it", .stranger: "throws CancellationError()",
      .throwing: "throws it", .throwingBesideOne: "throws it",
    ],
    .closedNothingOrThrows: [
      .one: "nothing", .two: "nothing", .none: "throws closed", .leaving: "throws closed",
      .leavingBesideOne: "nothing", .failing: "throws it", .failingBesideOne: "throws it",
      .stranger: "throws CancellationError()", .throwing: "throws it",
      .throwingBesideOne: "throws it",
    ],
  ]

  /// The outcome where the target is on a queue for which the sender does not wait.
  private func queued(_ sending: Sending, _ targets: Targets) -> String? {
    let none = table[sending.kind]?[.none]
    switch (sending.kind, targets) {
    case (_, .none), (.nothing, .leaving): return table[sending.kind]?[targets]
    case (.nothing, .one), (.nothing, .two), (.nothing, .leavingBesideOne),
      (.nothingOrThrows, .one), (.nothingOrThrows, .two):
      return "nothing"
    case (.nothing, _), (.nothingOrThrows, _): return "nothing, failed"
    case (_, .one), (_, .two), (_, .leaving), (_, .leavingBesideOne): return none
    case (.anyError, .throwing), (.anyError, .throwingBesideOne):
      return "throws nobodyAnswered, failed, unanswered"
    case (.closedNothing, _), (.closedNothingOrThrows, _), (_, .throwing), (_, .throwingBesideOne):
      return none.map { "\($0), failed" }
    // Questions to a target without its protocol are refused.
    case (_, .failing), (_, .failingBesideOne), (_, .stranger): return nil
    }
  }

  /// The outcome for a given proxy, where it differs from the table.
  private func outcome(_ sending: Sending, _ targets: Targets, _ behind: Behind) -> String? {
    guard let outcome = table[sending.kind]?[targets] else {
      Issue.record("the table has no row for \(sending.name) and \(targets)")
      return nil
    }
    if behind == .queue, !sending.isAwaited { return queued(sending, targets) }
    switch (behind.isSingle ? .single : behind, targets) {
    // Only the first target that answers is asked.
    case (.dataSource, .two): return table[sending.kind]?[.one]
    // An error ends the asking.
    case (.dataSource, .failingBesideOne):
      return table[sending.kind]?[.failing]
    case (.fallback, .one), (.fallback, .none), (.fallback, .leaving), (.fallback, .throwing):
      return outcome
    case (.fallback, _): return nil
    case (.single, .two), (.single, .leavingBesideOne), (.single, .failingBesideOne),
      (.single, .throwingBesideOne):
      return nil
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

  /// A proxy without a target. What it says of `width` is about another message.
  private final class Unanswering: ForwardingProxy, @unchecked Sendable {
    // SAFETY: it has no state.
    override func signature(for invocation: Invocation) -> MethodSignature? {
      invocation.methodSignature
    }
    override func forward(_ invocation: Invocation) throws {
      let selector = invocation.selector
      throw ForwardingError.nobodyAnswered(selector == "width" ? "height" : selector)
    }
  }

  @Suite("The results of a requirement's sender")
  struct OutcomeTests {
    private func send(
      _ sending: Sending, to targets: Targets, behind: Behind
    ) async -> String {
      let asked: [any Asked] =
        switch targets {
        case .one, .failingBesideOne: [behind.full(1)]
        case .two: [behind.full(1), behind.full(2)]
        case .none, .failing, .stranger: []
        case .leaving: [behind.brief()]
        case .leavingBesideOne: [behind.brief(), behind.full(2)]
        case .throwing: [behind.full(nil)]
        case .throwingBesideOne: [behind.full(nil), behind.full(1)]
        }
      let multicast: Multicast<AskedProxy> =
        switch behind {
        case .messages, .valuesByMessages: Multicast(MessagesAlone())
        case .dataSource, .fallback: DataSource()
        case .single: SingleTarget()
        case .singleByMessages: Multicast(MessagesAlone(one: nil))
        default: Multicast()
        }
      let queue = DispatchQueue(label: "asked")
      let lane: DeliveryLane =
        switch behind {
        case .blocking: .blocking(queue)
        case .deadline: .blocking(queue, deadline: .seconds(1000))
        case .queue: .queue(queue)
        default: .caller
        }
      let story = Story()
      story.listen(to: multicast.untyped)
      switch targets {
      case .failing, .failingBesideOne:
        multicast.untyped.add(Failing(), strongly: true, on: lane)
      case .stranger:
        multicast.untyped.add(Failing(CancellationError()), strongly: true, on: lane)
      default: break
      }
      if behind == .fallback {
        (multicast as? DataSource<AskedProxy>)?.setFallback(asked.first, strongly: true)
      } else {
        for target in asked { multicast.add(unchecked: target, strongly: true, on: lane) }
      }
      let outer = Multicast<AskedProxy>(behind == .outer ? MulticastProxy() : MessagesAlone())
      if behind.isOuter {
        story.listen(to: outer.untyped)
        outer.add(multicast.proxy)
      }
      let outcome = await sending.outcome(behind.isOuter ? outer.proxy : multicast.proxy)
      queue.sync {}
      // Two proxies may tell the same, and two threads in any order.
      let told = Set(story.take().map { String($0.prefix { $0 != " " }) })
      return ([outcome] + told.sorted()).joined(separator: ", ")
    }

    // The table is also in Documentation/Delegates.md.
    @Test("the result is that of the table", arguments: Sending.all, Targets.allCases)
    private func table(_ sending: Sending, _ targets: Targets) async {
      if !sending.mayBeLeftOut, targets == .leaving || targets == .leavingBesideOne { return }
      let byMessage: [Targets] = [.failing, .failingBesideOne, .stranger]
      if !sending.mayFail, byMessage.contains(targets) { return }
      let throwing: [Targets] = [.throwing, .throwingBesideOne]
      if !sending.mayThrow, throwing.contains(targets) { return }
      for behind in Behind.allCases where sending.isMessage || !behind.takesMessages {
        guard let expected = outcome(sending, targets, behind) else { continue }
        // An omitted requirement is known from the second call on.
        for _ in 0..<2 {
          let outcome = await send(sending, to: targets, behind: behind)
          #expect(outcome == expected, "\(behind)")
        }
      }
    }

    @Test("the answer of a value counts that asked another one, which leaves it out")
    func decorated() async throws {
      for inner in [BriefValue(), Brief(), Decorated(inner: BriefValue())] as [any Asked] {
        let (source, all) = (DataSource<AskedProxy>(), Multicast<AskedProxy>())
        if !(inner is Decorated) { source.add(inner, strongly: true) }
        source.add(Decorated(inner: inner))
        #expect(source.proxy.rest(1) == 5)
        #expect(await source.proxy.restLater(1) == 6)
        var proxy: any Asked = all.proxy
        all.add(Decorated(inner: inner), once: true)
        proxy.nap(1)
        #expect(all.isEmpty)
        all.add(Decorated(inner: inner), once: true)
        try proxy.bypassQuietly(1)
        #expect(all.isEmpty)
        all.add(Decorated(inner: inner))
        #expect(try all.messages.rest.all(1) == [5])
      }
    }

    @Test("a value that leaves a requirement out is not used up by it")
    func leaving() throws {
      for brief in [BriefValue(), Brief()] as [any Asked] {
        let all = Multicast<AskedProxy>()
        all.add(brief, strongly: true, once: true)
        all.proxy.nap(1)
        #expect(all.count == 1)
        #expect(try all.messages.rest.report(1).answered == 0)
      }
    }

    @Test("a requirement of the type, and a call of the object itself, fail closed as well")
    func withoutProxy() {
      #expect(throws: closed) { try AskedProxy.make() }
      #expect(throws: closed) { try Brief().bypass(5) }
    }

    @Test("a proxy of one's own may say that no target answered, which is no event")
    func ownProxy() async {
      await #expect(processExitsWith: .success) {
        let events = LockedValue<[Selector?]>([])
        ForwardingEvent.destination = .handler { event in
          events.withLock { $0.append(event.selector) }
        }
        let asked = AskedProxy(forwardingTo: Unanswering())
        for _ in 0..<2 { require((try? asked.pass(5)) == nil) }
        require((try? await asked.passLater(5)) == nil)
        require(events.withLock { $0.isEmpty }, "\(events.withLock { $0 })")
        // The error of another message is lost.
        require((try? asked.width) == nil)
        require(events.withLock { $0 } == ["width"], "\(events.withLock { $0 })")
        exit(EXIT_SUCCESS)
      }
    }
  }
#endif
