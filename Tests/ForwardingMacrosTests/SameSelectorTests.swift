// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import Forwarding
  import Testing

  @Forwardable
  private protocol Painting: AnyObject {
    func draw(_ number: Int)
    @Otherwise(-1) func count(of text: String) -> Int
    @Optional func rest(_ number: Int)
    func load(_ number: Int) async throws -> Int
  }

  /// Has the same selectors, with other types.
  @Forwardable
  private protocol Writing: AnyObject {
    func draw(_ text: String)
    @Otherwise("") func count(of text: String) -> String
    @Optional func rest(_ text: String)
    func load(_ text: String) async throws -> String
  }

  /// Has them with types of its own again.
  @Forwardable
  private protocol Carving: AnyObject {
    func draw(_ depth: Double)
  }

  /// Leaves out one of the two optional requirements. Each type argument makes a class, of which nothing
  /// is known at first.
  private final class Artist<Tag>: Painting, Writing, Carving {
    let story: Story
    init(_ story: Story) { self.story = story }
    func draw(_ number: Int) { story.tell("number \(number)") }
    func draw(_ text: String) { story.tell("text \(text)") }
    func draw(_ depth: Double) { story.tell("depth \(depth)") }
    func count(of text: String) -> Int { text.count }
    func count(of text: String) -> String { "\(text.count) letters" }
    func load(_ number: Int) async throws -> Int { number + 1 }
    func load(_ text: String) async throws -> String { text + "!" }
    func rest(_ text: String) { story.tell("rests \(text)") }
  }

  @Suite("Two protocols that give one selector other types, in one class")
  struct SameSelectorTests {
    private let story = Story()
    private let queue = DispatchQueue(label: "same selector")

    private func making<Proxy: GeneratedProxy>(
      _ way: ProxyWay, _ proxy: Proxy.Type
    ) -> Multicast<Proxy> {
      let targets = Multicast<Proxy>(way.untyped)
      story.listen(to: targets.untyped)
      return targets
    }

    @Test(
      "both are called and are messages, on a queue as well",
      arguments: ProxyWay.allCases)
    func both(_ way: ProxyWay) async throws {
      let artist = Artist<Int>(story)
      let painting = making(way, PaintingProxy.self)
      let writing = making(way, WritingProxy.self)
      let carving = making(way, CarvingProxy.self)
      painting.add(artist)
      writing.add(artist)
      carving.add(artist)
      painting.proxy.draw(1)
      writing.proxy.draw("one")
      carving.proxy.draw(0.5)
      #expect(story.take() == ["number 1", "text one", "depth 0.5"])
      #expect(painting.proxy.count(of: "four") == 4)
      #expect(writing.proxy.count(of: "four") == "4 letters")
      #expect(try await painting.proxy.load(1) == 2)
      #expect(try await writing.proxy.load("a") == "a!")
      #expect(try painting.messages.countOf.all("four") == [4])
      #expect(try writing.messages.countOf.all("four") == ["4 letters"])
      #expect(MethodTable.declarationErrors.allSatisfy { $0.type != SwiftType(type(of: artist)) })
      painting.remove(artist)
      writing.remove(artist)
      painting.add(unchecked: artist, on: .queue(queue))
      writing.add(unchecked: artist, on: .queue(queue))
      painting.proxy.draw(2)
      writing.proxy.draw("two")
      queue.sync {}
      #expect(story.take() == ["number 2", "text two"])
    }

    @Test("handlers before an object get both")
    func intercepted() {
      let artist = Artist<Int>(story)
      let writing = Intercepting<WritingProxy>(artist)
      writing.messages.draw.around { proceed, text in try proceed(text + "!") }
      Intercepting<PaintingProxy>(artist).proxy.draw(1)
      writing.proxy.draw("one")
      #expect(story.take() == ["number 1", "text one!"])
    }

    @Test("a class may leave out one of both", arguments: ProxyWay.allCases, [false, true])
    func leftOut(_ way: ProxyWay, _ isFirst: Bool) throws {
      func rest(_ artist: some Painting & Writing) throws {
        let painting = making(way, PaintingProxy.self)
        let writing = making(way, WritingProxy.self)
        painting.add(artist)
        if isFirst { painting.proxy.rest(1) }
        writing.add(artist)
        for _ in 0..<2 {
          painting.proxy.rest(2)
          writing.proxy.rest("two")
          #expect(story.take().filter { !$0.hasPrefix("unanswered") } == ["rests two"])
        }
        #expect(try painting.messages.rest.report(2).answered == 0)
        #expect(try writing.messages.rest.report("two").answered == 1)
      }
      switch (way, isFirst) {
      case (.calls, false): try rest(Artist<UInt8>(story))
      case (.calls, true): try rest(Artist<UInt16>(story))
      case (.messages, false): try rest(Artist<UInt32>(story))
      case (.messages, true): try rest(Artist<UInt64>(story))
      }
    }

    @Test("a method that the class registered itself stays, and refuses other types")
    func registered() throws {
      final class Own: Carving {
        var depth = 0.0
        func draw(_ depth: Double) { self.depth = depth }
      }
      try MethodTable.of(Own.self).register("draw:") { (_: Own, _: String) in }
      let own = Own()
      let carving = making(.messages, CarvingProxy.self)
      carving.add(own)
      carving.proxy.draw(0.5)
      #expect(own.depth == 0)
      #expect(story.take().count == 1)
      #expect(MethodTable.declarationErrors.contains { $0.type == SwiftType(Own.self) })
    }
  }
#endif
