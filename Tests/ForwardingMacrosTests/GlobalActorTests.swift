// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import Forwarding
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

  /// Takes values that are not Sendable, and runs on the actor of its caller.
  @Forwardable
  private protocol Noting: AnyObject {
    nonisolated(nonsending) func edit(_ draft: Draft) async
  }

  private final class Editor: Noting {
    nonisolated(nonsending) func edit(_ draft: Draft) async {
      await Task.yield()
      draft.text += isOnMain() ? "main" : "elsewhere"
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

    @Test("a target is not called on a queue that is not its actor's", arguments: ProxyWay.allCases)
    @MainActor
    func otherQueue(_ way: ProxyWay) {
      let queue = DispatchQueue(label: "elsewhere")
      let targets = Multicast<ShowingProxy>(way.untyped)
      story.listen(to: targets.untyped)
      targets.add(unchecked: Sign(story), strongly: true, on: .queue(queue))
      targets.proxy.show("text")
      #expect(targets.proxy.height == 0)
      queue.sync {}
      let elsewhere = { (selector: Selector, remedy: IsolationRemedy) in
        let context = ForwardingError.Context(selector: selector, target: Sign.self)
        return "failed \(selector) \(ForwardingError.wrongIsolation(context, remedy))"
      }
      let told = story.take().filter { !$0.hasPrefix("unanswered") }
      #expect(told == [elsewhere("show:", .lane), elsewhere("height", .awaiting)])
    }

    @Test("a target is called on a queue that is its actor's", arguments: ProxyWay.allCases)
    @MainActor
    func mainQueue(_ way: ProxyWay) async {
      let targets = Multicast<ShowingProxy>(way.untyped)
      story.listen(to: targets.untyped)
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
    func values() async {
      let (signs, notes) = (Multicast<ShowingProxy>(), Multicast<NotingProxy>())
      signs.add(Sign(story), strongly: true)
      notes.add(Editor(), strongly: true)
      let draft = Draft()
      await notes.proxy.edit(draft)
      #expect(draft.text == "main")
      #expect(await signs.proxy.load(draft) == "main")
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
#endif
