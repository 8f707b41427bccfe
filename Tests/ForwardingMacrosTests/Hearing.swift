// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  @testable import Forwarding

  /// A proxy class whose proxies send messages to all targets.
  final class MessagesAlone: MulticastProxy, @unchecked Sendable {}

  /// The way in which a proxy reaches its targets. Both behave alike, so each test runs with both.
  enum ProxyWay: CaseIterable {
    case calls, messages

    var untyped: MulticastProxy { self == .calls ? MulticastProxy() : MessagesAlone() }
  }

  /// A log of targets, senders and diagnostics, in order.
  final class Story: Sendable {
    private let told = Guarded<[String]>([])

    func tell(_ line: String) { told.withLock { $0.append(line) } }

    var lines: [String] { told.read { $0 } }

    /// The entries since the last call.
    func take() -> [String] {
      told.withLock { told in
        defer { told = [] }
        return told
      }
    }

    /// Logs the diagnostics of a proxy.
    func listen(to untyped: MulticastProxy) {
      untyped.onDiagnostic = { [self] diagnostic in
        switch diagnostic {
        case .deadTarget: tell("dead")
        case .diedUnreached(_, let type): tell("unreached \(type)")
        case .failed(_, let selector, let error): tell("failed \(selector) \(error)")
        case .unheard(let selector, let error): tell("unheard \(selector) \(error)")
        case .unanswered(let selector): tell("unanswered \(selector)")
        default: break
        }
      }
    }
  }

  struct Lame: Error, Equatable { let name: String }

  /// A requirement of each kind, awaited or not.
  @Forwardable
  protocol Hearing: AnyObject, Sendable {
    func hear(_ number: Int)
    func hearLater(_ number: Int) async
    @Otherwise(-1) func weigh(_ number: Int) -> Int
    @Otherwise(-1) func weighLater(_ number: Int) async -> Int
    func check(_ number: Int) throws -> Int
    func checkLater(_ number: Int) async throws -> Int
    @Otherwise(-1) func gradeLater(_ number: Int) async throws(Lame) -> Int
    @Otherwise(0, combine: +) func total(_ number: Int) -> Int
    @Otherwise(0, combine: +) func totalLater(_ number: Int) async -> Int
    func mark(_ number: Int, _ text: String) throws
    func add(_ number: Int, to sum: inout Int)
    var mood: String? { get set }
    /// This one and the next cannot be messages.
    func lend(_ number: () -> Int) throws
    func lendLater(_ number: some BinaryInteger & Sendable) async
    @Optional func rest(_ number: Int) -> Int?
    @Optional func restLater(_ number: Int) async -> Int?
    @Optional func rate(_ number: Int) throws -> Int
    @Optional func rateLater(_ number: Int) async throws -> Int
    @Optional func nap(_ number: Int)
    @Optional func napLater(_ number: Int) async
    @Optional @Otherwise(-1) func guess(_ number: Int) -> Int
  }

  /// Tells each call in the story of its ear.
  protocol Telling: Hearing {
    var ear: Ear { get }
  }

  extension Telling {
    func hear(_ number: Int) { ear.note("hears \(number)") }
    func hearLater(_ number: Int) async { try? await ear.noteLater("hears \(number)") }
    func weigh(_ number: Int) -> Int {
      ear.note("weighs \(number)")
      return 100 * ear.number + number
    }
    func weighLater(_ number: Int) async -> Int {
      try? await ear.noteLater("weighs \(number)")
      return 100 * ear.number + number
    }
    func check(_ number: Int) throws -> Int {
      ear.note("checks \(number)")
      try ear.failIfBroken()
      return ear.number
    }
    func checkLater(_ number: Int) async throws -> Int {
      try await ear.noteLater("checks \(number)")
      return ear.number
    }
    func gradeLater(_ number: Int) async throws(Lame) -> Int {
      do { return try await checkLater(number) } catch { throw Lame(name: "\(ear.number)") }
    }
    func total(_ number: Int) -> Int { ear.number * number }
    func totalLater(_ number: Int) async -> Int { ear.number * number }
    func mark(_ number: Int, _ text: String) throws {
      ear.note("marks \(number) \(text)")
      try ear.failIfBroken()
    }
    func add(_ number: Int, to sum: inout Int) {
      ear.note("adds \(number) to \(sum)")
      sum += number
    }
    var mood: String? {
      get { ear.kept }
      set { ear.kept = newValue }
    }
    func lend(_ number: () -> Int) throws {
      hear(number())
      try ear.failIfBroken()
    }
    func lendLater(_ number: some BinaryInteger & Sendable) async { await hearLater(Int(number)) }
  }

  /// Leaves out the optional requirements. One thread at a time changes what it does.
  class Ear: Telling, @unchecked Sendable {
    let number: Int
    let story: Story
    /// What it does in its next call.
    var errand: (() -> Void)?
    /// What it does in each call that is awaited.
    var later: (@Sendable () async throws -> Void)?
    var failure: (any Error)?
    var isBroken: Bool {
      get { failure != nil }
      set { failure = newValue ? Lame(name: "\(number)") : nil }
    }
    fileprivate var kept: String?
    var ear: Ear { self }

    init(_ number: Int, _ story: Story) { (self.number, self.story) = (number, story) }

    fileprivate func note(_ what: String) {
      story.tell("\(number) \(what)")
      guard let errand else { return }
      self.errand = nil
      errand()
    }

    /// Suspends, so that other allocations of the task exist at that time.
    fileprivate func noteLater(_ what: String) async throws {
      note(what)
      await Task.yield()
      try await later?()
      try failIfBroken()
    }

    fileprivate func failIfBroken() throws {
      if let failure { throw failure }
    }
  }

  /// Leaves out nothing.
  final class FullEar: Telling {
    let ear: Ear
    init(_ ear: Ear) { self.ear = ear }
    convenience init(_ number: Int, _ story: Story) { self.init(Ear(number, story)) }

    func rest(_ number: Int) -> Int? {
      ear.note("rests \(number)")
      return number
    }
    func restLater(_ number: Int) async -> Int? { rest(number) }
    func rate(_ number: Int) throws -> Int { try check(number) }
    func rateLater(_ number: Int) async throws -> Int { try await checkLater(number) }
    func nap(_ number: Int) { ear.note("naps \(number)") }
    func napLater(_ number: Int) async { try? await ear.noteLater("naps \(number)") }
    func guess(_ number: Int) -> Int { weigh(number) }
  }

  extension Story {
    /// A multicast whose diagnostics are in the story.
    func hearing(_ way: ProxyWay = .calls) -> Multicast<HearingProxy> {
      let untyped = way.untyped
      listen(to: untyped)
      return Multicast(untyped)
    }

    /// A new target of a multicast.
    @discardableResult
    func ear(_ number: Int, in targets: Multicast<HearingProxy>) -> Ear {
      let ear = Ear(number, self)
      targets.add(ear, strongly: true)
      return ear
    }
  }
#endif
