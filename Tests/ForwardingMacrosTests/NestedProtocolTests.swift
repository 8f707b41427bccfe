// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Forwarding
  import Invocations
  import ProxyProtocols
  import Testing

  private struct Lamp: Hostel.Named, Equatable { let name = "lamp" }

  /// Inherits a protocol that is inside of another type, and the one that this inherits.
  @Forwardable
  protocol Caretaker: Hostel.Host {
    @Optional func sweep(_ note: Hostel.Note)
  }

  /// What all guests do.
  private protocol Staying: Hostel.Guest {
    var story: Story { get }
  }

  extension Staying {
    var mood: Hostel.Mood { .wild }
    func take(_ note: Hostel.Note) { story.tell("take \(note.text)") }
    func admit(_ note: inout Hostel.Note) throws(Hostel.Failure) -> Hostel.Note {
      note.text += "!"
      return note
    }
    func find(_ named: any Hostel.Named) -> (any Hostel.Named)? { named }
    func all<Value: Hostel.Named>(
      _ value: Value, in pair: Hostel.Pair<Value>
    ) -> [Hostel.Pair<Value>] { [pair, pair] }
    func visit(_ body: (Hostel.Note) throws -> Void) rethrows { try body(Hostel.Note("visit")) }
    func upload(_ note: Hostel.Note) async throws -> Hostel.Note { Hostel.Note(note.text + " up") }
    subscript(_ note: Hostel.Note) -> Hostel.Pair<Hostel.Mood> { Hostel.Pair(.wild, .wild) }
  }

  private final class Visitor: Staying {
    let story: Story
    init(_ story: Story) { self.story = story }
  }

  private final class Sweeper: Staying, Caretaker {
    let story: Story
    init(_ story: Story) { self.story = story }
    func idle(_ notes: [Hostel.Note], in pair: Hostel.Pair<Hostel.Note>?) { story.tell("idle") }
    func moods() throws(Hostel.Failure) -> Hostel.Pair<Hostel.Mood> { throw .closed }
    func wake(_ note: Hostel.Note) async { story.tell("wake \(note.text)") }
    func open(_ note: Hostel.Note) { story.tell("open \(note.text)") }
    func sweep(_ note: Hostel.Note) { story.tell("sweep \(note.text)") }
  }

  private struct Drawer: Hostel.Keeper {
    func pair(_ item: Lamp) -> Hostel.Pair<Lamp>? { Hostel.Pair(item, item) }
  }

  /// Protocols of this file, inside of a class and an actor.
  private final class House {
    struct Key { let number: Int }
    @Forwardable
    fileprivate protocol Owner: AnyObject {
      @Optional func lock(_ key: Key)
      @Otherwise(Key(number: 1)) func key() -> Key
    }
    actor Safe {
      struct Code { let number: Int }
      @Forwardable
      fileprivate protocol Watcher: AnyObject { func open(_ code: Code, _ key: Key) throws }
    }
  }

  /// Inherits several protocols of another module, one of which has a type that it fixes.
  @Forwardable
  protocol NumberListener: Listener<Int> & Hostel.Note.Reader {
    func end()
  }

  private final class Numbers: NumberListener {
    let story: Story
    init(_ story: Story) { self.story = story }
    func hear(_ event: Int) { story.tell("hears \(event)") }
    func answer(to event: Int) -> Int? { event + 1 }
    func translate<Other>(_ event: Int, _ body: (Int) -> Other) -> Other? { body(event) }
    func read(_ line: Hostel.Note.Line, of note: Hostel.Note) { story.tell("reads \(note.text)") }
    func end() { story.tell("ends") }
  }

  @Forwardable
  private protocol Naming: AnyObject {
    func name(_ number: Int)
    @Otherwise(0) func count() -> Int
    func rate() async
  }

  @Forwardable
  private protocol Ranking where Self: Naming & Sendable {
    func rank()
    @Otherwise(0) func size() -> Int
  }

  /// The protocol of a library that inherits another one, whose proxy does not know it.
  private protocol Foreign: Naming {
    func close()
  }

  @Forwardable(as: (any Foreign).self)
  private protocol RestatedForeign: AnyObject {
    func close()
  }

  private protocol Named: Naming { var story: Story { get } }

  extension Named {
    func name(_ number: Int) { story.tell("name \(number)") }
    func count() -> Int { 5 }
    func rate() async { story.tell("rate") }
  }

  /// Classes of their own: a proxy that knows a class gives it methods for good.
  private final class Closed: Named, Foreign {
    let story: Story
    init(_ story: Story) { self.story = story }
    func close() { story.tell("close") }
  }

  private final class Ranked: Named, Ranking {
    let story: Story
    init(_ story: Story) { self.story = story }
    func rank() { story.tell("rank") }
    func size() -> Int { 7 }
  }

  @Suite("Protocols inside of other types")
  struct NestedProtocolTests {
    private let note = Hostel.Note("hello")
    private let story = Story()
    private let guests = Multicast<Hostel.GuestProxy>()

    @Test("the proxy has the requirements and answers with the types beside the protocol")
    func direct() async throws {
      #expect(guests.proxy.mood == .calm)
      #expect(guests.proxy.all(Lamp(), in: Hostel.Pair(Lamp(), Lamp())).isEmpty)
      #expect(guests.proxy[note].one == .calm)
      var sent = note
      #expect(throws: Hostel.Failure.closed) { _ = try guests.proxy.admit(&sent) }
      guests.add(Visitor(story), strongly: true)
      guests.proxy.take(note)
      #expect(story.take() == ["take hello"])
      #expect(guests.proxy.mood == .wild)
      #expect(try guests.proxy.admit(&sent).text == "hello!")
      #expect(sent.text == "hello!")
      #expect(guests.proxy.find(Lamp())?.name == "lamp")
      #expect(guests.proxy.all(Lamp(), in: Hostel.Pair(Lamp(), Lamp())).count == 2)
      var visited: [Hostel.Note] = []
      guests.proxy.visit { visited.append($0) }
      #expect(visited == [Hostel.Note("visit")])
      #expect(try await guests.proxy.upload(note).text == "hello up")
      #expect(guests.proxy[note].one == .wild)
      #expect(try guests.messages.mood.all() == [.wild])
      _ = try guests.messages.take.all(note)
      #expect(story.take() == ["take hello"])
      // What the class leaves out.
      guests.proxy.idle([note], in: nil)
      await guests.proxy.wake(note)
      #expect(try guests.proxy.moods().one == .wild)
      #expect(try guests.messages.idleIn.report([note], nil).answered == 0)
    }

    @Test("a protocol at the top of a file, or beside it, may inherit it")
    func inherited() async throws {
      let sweepers = Multicast<CaretakerProxy>()
      let sweeper = Sweeper(story)
      sweepers.add(sweeper)
      guests.add(sweepers.proxy)
      (sweepers.proxy as any Hostel.Guest).take(note)
      (sweepers.proxy as any Hostel.Host).open(note)
      sweepers.proxy.sweep(note)
      guests.proxy.idle([], in: nil)
      await guests.proxy.wake(note)
      #expect(story.take() == ["take hello", "open hello", "sweep hello", "idle", "wake hello"])
      #expect(throws: Hostel.Failure.closed) { try guests.proxy.moods() }
      #expect(sweepers.proxy[note].other == .wild)
      #expect(try sweepers.messages.mood.all() == [.wild])
      let (watched, seen) = (Intercepting<CaretakerProxy>(sweeper), story)
      watched.messages.take.before { seen.tell("before \($0.text)") }
      watched.proxy.take(note)
      #expect(story.take() == ["before hello", "take hello"])
    }

    @Test("a structure may be a target, of an associated type")
    func values() {
      let keepers = Multicast<Hostel.KeeperProxy<Lamp>>()
      keepers.add(Drawer())
      keepers.proxy.put(Lamp(), note)
      #expect(keepers.proxy.pair(Lamp())?.one == Lamp())
    }

    @Test("it may be in an extension, a class or an actor")
    func places() {
      let readers = Multicast<Hostel.Note.ReaderProxy>()
      readers.add(Numbers(story), strongly: true)
      readers.proxy.read(Hostel.Note.Line(1), of: note)
      #expect(story.take() == ["reads hello"])
      #expect(readers.proxy.last(of: note).number == 0)
      let owners = Multicast<House.OwnerProxy>()
      #expect(owners.proxy.key().number == 1)
      owners.proxy.lock(House.Key(number: 1))
      let safe = Multicast<House.Safe.WatcherProxy>()
      safe.whenNobodyAnswers = .throw
      #expect(throws: ForwardingError.nobodyAnswered("open::")) {
        try safe.proxy.open(House.Safe.Code(number: 1), House.Key(number: 2))
      }
    }
  }

  @Suite("Protocols that inherit others")
  struct InheritanceTests {
    private let story = Story()

    @Test("several protocols of another module, of which one has a type parameter")
    func several() throws {
      let numbers = Multicast<NumberListenerProxy>()
      numbers.add(Numbers(story), strongly: true)
      numbers.proxy.hear(3)
      numbers.proxy.read(Hostel.Note.Line(1), of: Hostel.Note("page"))
      numbers.proxy.end()
      #expect(numbers.proxy.translate(4) { "\($0)" } == "4")
      #expect(try numbers.messages.answerTo.all(2) == [3])
      let outer = Multicast<ListenerProxy<Int>>()
      outer.add(numbers.proxy)
      outer.proxy.hear(5)
      #expect(story.take() == ["hears 3", "reads page", "ends", "hears 5"])
    }

    @Test("a protocol that 'where Self:' names")
    func whereClause() async throws {
      let all = Multicast<RankingProxy>()
      all.add(Ranked(story), strongly: true)
      all.proxy.rank()
      all.proxy.name(1)
      #expect(all.proxy.size() == 7)
      #expect(all.proxy.count() == 5)
      await all.proxy.rate()
      #expect(try all.messages.count.all() == [5])
      #expect(story.take() == ["rank", "name 1", "rate"])
    }

    @Test("requirements that a proxy does not know are messages, which a target need not have")
    func unknown() async {
      let closed = Closed(story)
      let all = Multicast<RestatedForeignProxy>()
      story.listen(to: all.untyped)
      all.add(closed)
      all.proxy.close()
      all.proxy.name(1)
      #expect(all.proxy.count() == 0)
      await all.proxy.rate()
      #expect(story.take() == ["close", "unanswered name:", "unanswered rate"])

      // The class has methods for the messages once the proxy that knows them was given one.
      let names = Multicast<NamingProxy>()
      names.add(closed)
      all.proxy.name(2)
      #expect(all.proxy.count() == 5)
      #expect(story.take() == ["name 2"])
    }
  }
#endif
