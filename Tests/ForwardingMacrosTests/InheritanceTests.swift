// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import ProxyProtocols
  import Forwarding
  import Testing

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

  /// Classes of their own: a proxy that knows a class gives it methods for good.
  private final class Closed: Foreign {
    let story: Story
    init(_ story: Story) { self.story = story }
    func name(_ number: Int) { story.tell("name \(number)") }
    func count() -> Int { 5 }
    func rate() async { story.tell("rate") }
    func close() { story.tell("close") }
  }

  private final class Ranked: Ranking {
    let story: Story
    init(_ story: Story) { self.story = story }
    func name(_ number: Int) { story.tell("name \(number)") }
    func count() -> Int { 5 }
    func rate() async { story.tell("rate") }
    func rank() { story.tell("rank") }
    func size() -> Int { 7 }
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
