// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import Forwarding
  import ForwardingTesting
  import ProxyProtocols
  import Testing

  @globalActor
  actor AudioActor {
    static let shared = AudioActor()
  }

  /// A type that threads must not share.
  final class Draft {
    var text = ""
  }

  @Forwardable
  @MainActor
  private protocol Showing: AnyObject {
    func show(_ text: String)
    @Otherwise(0) var height: Int { get }
    func load(_ draft: Draft) async -> String?
  }

  @MainActor
  private final class Sign: Showing {
    let story: Story
    init(_ story: Story) { self.story = story }
    var height: Int {
      story.tell("height")
      return 10
    }
    func show(_ text: String) { story.tell("shows \(text)") }
    func load(_ draft: Draft) async -> String? {
      await Task.yield()
      return isOnMain() ? draft.text : nil
    }
  }

  /// Its conforming types are actors, and so is its proxy.
  @Forwardable
  private protocol Counting: Actor {
    @Otherwise(0) func add(_ count: Int) async -> Int
    func check(_ text: String) async throws
    @Optional func reset() async
    nonisolated func hint(_ text: String)
  }

  private actor Counter: Counting {
    var count = 0
    let hints = Guarded<[String]>([])
    func add(_ count: Int) async -> Int {
      self.count += count
      return self.count
    }
    func check(_ text: String) async throws { throw Lame(name: text) }
    nonisolated func hint(_ text: String) { hints.withLock { $0.append(text) } }
  }

  @Hostel.RoomActor
  private final class Barrel: Hostel.Cellar {
    var count = 0
    func mood(_ note: Hostel.Note) -> Hostel.Mood {
      count += 1
      return .wild
    }
  }

  private func isOnMain() -> Bool { CurrentExecutor.isThat(of: MainActor.shared) }

  @Suite("Protocols on a global actor, and protocols of actors")
  struct GlobalActorTests {
    private let story = Story()

    @Test(
      "a target is called on a queue that is its actor's, and not on another one",
      arguments: ProxyWay.allCases)
    @MainActor
    func queues(_ way: ProxyWay) async {
      let (targets, queue) = (
        Multicast<ShowingProxy>(way.untyped), DispatchQueue(label: "elsewhere")
      )
      story.listen(to: targets.untyped)
      let token = targets.add(unchecked: Sign(story), strongly: true, on: .queue(queue))
      targets.proxy.show("text")
      #expect(targets.proxy.height == 0)
      queue.sync {}
      let elsewhere = { (selector: Selector, remedy: IsolationRemedy) in
        let context = ForwardingError.Context(selector: selector, target: Sign.self)
        return "failed \(selector) \(ForwardingError.wrongIsolation(context, remedy))"
      }
      let told = story.take().filter { !$0.hasPrefix("unanswered") }
      #expect(told == [elsewhere("show:", .lane), elsewhere("height", .awaiting)])
      targets.remove(token)
      targets.add(unchecked: Sign(story), strongly: true, on: .queue(.main))
      targets.proxy.show("text")
      #expect(story.take() == [])
      await withCheckedContinuation { continuation in
        DispatchQueue.main.async { continuation.resume() }
      }
      #expect(story.take() == ["shows text"])
    }

    @Test("values that are not Sendable stay on the actor of the protocol, or of the caller")
    @MainActor
    func values() async throws {
      let (signs, clocks) = (Multicast<ShowingProxy>(), Multicast<TickingProxy>())
      signs.add(Sign(story), strongly: true)
      clocks.add(Clock(), strongly: true)
      let draft = Draft()
      try await clocks.proxy.edit(draft)
      #expect(draft.text == "m")
      #expect(await signs.proxy.load(draft) == "m")
    }

    @Test("the proxy and its targets are on the actor, and a send from elsewhere is refused")
    @Hostel.RoomActor
    func inPlace() async throws {
      let (cellars, barrel, note) = (Multicast<Hostel.CellarProxy>(), Barrel(), Hostel.Note(""))
      cellars.add(barrel)
      cellars.proxy.enter(note)
      #expect(cellars.proxy.mood(note) == .wild)
      #expect(try cellars.messages.mood.all(note) == [.wild])
      let untyped = cellars.untyped
      await MainActor.run {
        let mood = ForwardingError.Context(selector: "mood:", target: Barrel.self)
        _ = #expect(throws: ForwardingError.wrongIsolation(mood, .awaiting)) {
          try Message<Hostel.Mood, Hostel.Note>("mood:")(note, on: untyped)
        }
      }
      #expect(barrel.count == 2)
    }

    @Test("a proxy of actors is an actor, and its targets are actors")
    func actors() async throws {
      let counters = Multicast<CountingProxy>()
      let (one, other) = (Counter(), Counter())
      counters.add(one)
      counters.add(other, on: .actor(other))
      let proxy: any Counting = counters.proxy
      #expect(await proxy.add(2) == 2)
      #expect(await proxy.add(3) == 5)
      #expect(await one.count == 5)
      await proxy.reset()
      await #expect(throws: Lame(name: "counter")) { try await proxy.check("counter") }
      counters.remove(other)
      proxy.hint("quick")
      #expect(one.hints.read { $0 } == ["quick"])
    }
  }

  @Forwardable
  protocol Ticking: AnyObject {
    func tick(_ text: [String])
    func count(_ number: Int) throws -> Int
    func load(_ number: Int) async throws -> Int
    nonisolated(nonsending) func stay(_ number: Int) async throws -> Int
    nonisolated(nonsending) func edit(_ draft: Draft) async throws
  }

  @Forwardable
  protocol LoudTicking: Ticking {
    func ring(_ number: Int) throws -> Int
  }

  typealias OwnActor = AudioActor

  /// For each call of a method, whether it ran on the actor.
  private typealias Places = Guarded<[Bool]>

  private func note(_ places: Places, _ actor: any Actor) {
    places.withLock { $0.append(CurrentExecutor.isThat(of: actor)) }
  }

  @MainActor
  private final class Display: @MainActor LoudTicking {
    let places: Places
    init(_ places: Places) { self.places = places }
    func tick(_ text: [String]) { note(places, MainActor.shared) }
    func count(_ number: Int) throws -> Int { ring(number) }
    func load(_ number: Int) -> Int { ring(number) }
    @MainActor func stay(_ number: Int) async throws -> Int { ring(number) }
    func edit(_ draft: Draft) {
      note(places, MainActor.shared)
      draft.text += "+"
    }
    func ring(_ number: Int) -> Int {
      note(places, MainActor.shared)
      return number
    }
  }

  @AudioActor
  private class Speaker<Sound: Sendable>: @OwnActor LoudTicking {
    let places: Places
    init(_ places: Places) { self.places = places }
    func tick(_ text: [String]) { note(places, AudioActor.shared) }
    func count(_ number: Int) throws -> Int { ring(number) }
    func load(_ number: Int) async throws -> Int { ring(number) }
    func stay(_ number: Int) -> Int { ring(number) }
    @AudioActor func edit(_ draft: Draft) async throws {
      note(places, AudioActor.shared)
      draft.text += "+"
    }
    func ring(_ number: Int) -> Int {
      note(places, AudioActor.shared)
      return number
    }
  }

  @AudioActor
  private final class Loudspeaker: Speaker<Int> {}

  /// Answers without an actor.
  private protocol FreelyTicking: Ticking {}

  extension FreelyTicking {
    func tick(_ text: [String]) {}
    func count(_ number: Int) throws -> Int { number }
    func load(_ number: Int) async throws -> Int { number }
    func stay(_ number: Int) async throws -> Int { number }
    nonisolated(nonsending) func edit(_ draft: Draft) async throws {
      await Task.yield()
      draft.text += isOnMain() ? "m" : "-"
    }
  }

  /// Isolated to the main actor, with a nonisolated method.
  @MainActor
  private final class Meter: FreelyTicking {
    nonisolated func tick(_ text: [String]) {}
  }

  /// Not isolated to any actor.
  private class Clock: FreelyTicking {}
  private final class GenericClock<Value>: Clock {}

  @Suite("A target whose class conforms on a global actor", .serialized)
  struct IsolatedConformanceTests {
    private let places = Places([])
    private let refused = ["tick: lane", "count: awaiting", "edit: sendingThere"]

    /// Takes the places of the calls since the last time, of which all were on the actor.
    private func expectCalls(_ count: Int) {
      #expect(places.read { $0 } == Array(repeating: true, count: count))
      places.withLock { $0 = [] }
    }

    /// Sends all synchronous messages from outside, and awaits the others; returns those that were
    /// refused.
    private func sendFromElsewhere(_ untyped: any ForwardingProxy & Sendable) async -> [String] {
      var refused: [String] = []
      func attempt(_ name: Selector, answer: Int = 0, _ send: () async throws -> Int) async {
        do {
          #expect(try await send() == answer)
        } catch ForwardingError.wrongIsolation(let context, let remedy)
          where context.selector == name
        {
          refused.append("\(name.name) \(remedy)")
        } catch {
          Issue.record(error)
        }
      }
      await attempt("tick:") {
        try Message<Void, [String]>("tick:")(["a"], on: untyped)
        return 0
      }
      await attempt("count:") { try Message<Int, Int>("count:")(0, on: untyped) }
      await attempt("awaited count:", answer: 1) {
        try await AsyncMessage<Int, Int>("count:")(1, on: untyped)
      }
      await attempt("load:", answer: 2) {
        try await AsyncMessage<Int, Int>("load:")(2, on: untyped)
      }
      await attempt("stay:", answer: 3) {
        try await AsyncMessage<Int, Int>("stay:")(3, on: untyped)
      }
      await attempt("edit:", answer: 1) {
        let draft = Draft()
        try await AsyncMessage<Void, Draft>("edit:")(draft, on: untyped)
        return draft.text.count
      }
      return refused
    }

    private func sendInPlace(_ proxy: any Ticking, on actor: isolated any Actor) async throws {
      proxy.tick(["a"])
      #expect(try proxy.count(1) == 1)
      let draft = Draft()
      try await proxy.edit(draft)
      #expect(draft.text == "+")
    }

    @Test("a class on the main actor is called only there, whatever is behind the proxy")
    @MainActor
    func main() async throws {
      let display = Display(places)
      let (targets, scoped) = (Multicast<LoudTickingProxy>(), Multicast<TickingProxy>())
      targets.add(display, strongly: true)
      let source = DataSource<TickingProxy>()
      source.setFallback(display)
      let registration = scoped.add(display).scoped()
      let proxies: [any ForwardingProxy & Sendable] = [
        targets.untyped, SingleTarget<TickingProxy>(display).untyped, source.untyped,
        scoped.untyped, Intercepting<TickingProxy>(display).untyped,
        Spy<TickingProxy>(wrapping: display).untyped,
      ]
      for untyped in proxies {
        let told = await Task.detached { await sendFromElsewhere(untyped) }.value
        #expect(told == refused, "\(type(of: untyped))")
        // What waits goes to the actor.
        expectCalls(3)
      }
      withExtendedLifetime(registration) {}
      try await sendInPlace(targets.proxy, on: MainActor.shared)
      #expect(try targets.proxy.ring(4) == 4)
      expectCalls(4)
    }

    @Test("a generic class on the program's own actor is called only there")
    @AudioActor
    func own() async throws {
      for target in [Speaker<String>(places), Loudspeaker(places)] as [any AudioTarget] {
        let targets = Multicast<LoudTickingProxy>()
        target.join(targets)
        let untyped = targets.untyped
        #expect(await Task.detached { await sendFromElsewhere(untyped) }.value == refused)
        #expect(await Task { @MainActor in await sendFromElsewhere(untyped) }.value == refused)
        try await sendInPlace(targets.proxy, on: AudioActor.shared)
        let ring = ForwardingError.Context(selector: "ring:", target: type(of: target))
        await MainActor.run {
          _ = #expect(throws: ForwardingError.wrongIsolation(ring, .awaiting)) {
            try Message<Int, Int>("ring:")(1, on: untyped)
          }
        }
        expectCalls(9)
      }
    }

    @Test("a target with nonisolated members or a nonisolated class is called anywhere")
    func free() async {
      let meter = await MainActor.run { Meter() }
      for target in [meter, Clock(), GenericClock<Int>()] as [any Ticking] {
        let targets = Multicast<TickingProxy>()
        targets.add(target, strongly: true)
        #expect(await sendFromElsewhere(targets.untyped) == [])
      }
    }

    @Test("a refused call that cannot throw is reported as a diagnostic")
    @MainActor
    func diagnostic() async {
      let (targets, told) = (Multicast<TickingProxy>(), Story())
      told.listen(to: targets.untyped)
      targets.add(Display(places), strongly: true)
      let untyped = targets.untyped
      await Task.detached {
        TickingProxy(forwardingTo: untyped).tick(["a"])
        let tick = ForwardingError.Context(selector: "tick:", target: Display.self)
        let refusal = ForwardingError.wrongIsolation(tick, .lane)
        #expect(told.take() == ["unheard tick: \(refusal)"])
        #expect(throws: refusal) { try Message<Void, [String]>("tick:").all(["a"], on: untyped) }
      }.value
      expectCalls(0)
    }

    @Test(
      "the error says what helps",
      arguments: [
        (IsolationRemedy.lane, "add the target with its actor, as in 'on: .mainActor'"),
        (.awaiting, "'async' requirement"), (.sendingThere, "send it on the actor"),
      ])
    func remedies(_ remedy: IsolationRemedy, _ advice: String) {
      let text = "\(ForwardingError.wrongIsolation(.init(selector: "a", target: nil), remedy))"
      #expect(text.contains(advice), "\(text)")
      #expect(text.contains("on: .mainActor") == (remedy == .lane), "\(text)")
    }

    @Test("a send from elsewhere reaches the class on a lane of its actor")
    @MainActor
    func lane() async {
      let targets = Multicast<TickingProxy>()
      targets.add(unchecked: Display(places), strongly: true, on: .actor(MainActor.shared))
      let untyped = targets.untyped
      await Task.detached {
        let report = try? Message<Void, [String]>("tick:").report(["a"], on: untyped)
        _ = await report?.entries.first?.ticket?.value()
      }.value
      expectCalls(1)
    }
  }

  /// Adds itself: an array of classes that conform on an actor does not have the type of an array
  /// of their protocol.
  @AudioActor
  private protocol AudioTarget {
    func join(_ targets: Multicast<LoudTickingProxy>)
  }

  extension Speaker: AudioTarget {
    func join(_ targets: Multicast<LoudTickingProxy>) { targets.add(self, strongly: true) }
  }
#endif
