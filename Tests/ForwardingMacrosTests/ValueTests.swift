// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import Forwarding
  import ForwardingTesting
  import Testing

  private final class Parcel: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
  }

  private struct Letter: Sendable {
    var parcel: Parcel
    var text: String
    var numbers: (Int, Double)
    var small: UInt8
  }

  private protocol Weighted: Sendable { var weight: Double { get } }
  extension Double: Weighted { fileprivate var weight: Double { self } }
  extension Letter: Weighted { fileprivate var weight: Double { numbers.1 } }

  private struct Nothing: Equatable, Sendable {}
  private enum Only: Sendable { case one }
  private let thing = Parcel(7)

  /// Requirements with values of all kinds. Those behind `keep` have values without memory, beside
  /// others and at any position.
  @Forwardable
  private protocol Posting: AnyObject {
    func send(_ letter: Letter, _ text: String, _ parcel: Parcel?, small: UInt8, _ flag: Bool)
    func perform(_ body: @escaping @Sendable (Int) -> String, _ other: (@Sendable () -> Int)?)
    func weigh(_ one: any Weighted, _ other: (any Weighted)?, _ any: Any?, _ error: any Error)
    func list(_ all: [Letter], _ table: [String: Int], _ pair: (String, Int), _ range: Range<Int>)
    var mood: String? { get set }
    func keep(_ parcel: Parcel)
    func thingNEN(_ a: Parcel, _ b: Nothing, _ c: Parcel)
    func listNNNNE(_ a: [Int], _ b: [Int], _ c: [Int], _ d: [Int], _ e: Nothing)
    func onlyETE(_ a: Only, _ b: Parcel, _ c: Only)
    func typeET(_ a: Int.Type, _ b: Parcel)
    func nothing(_ a: Nothing)
    func zeros(_ a: Nothing, _ b: Only, _ c: (), _ d: Int.Type, _ e: Nothing)
  }

  private final class Office: Posting, @unchecked Sendable {
    let story: Story
    var mood: String? {
      get { "calm" }
      set { story.tell("mood \(newValue ?? "none")") }
    }

    init(_ story: Story) { self.story = story }

    func send(_ letter: Letter, _ text: String, _ parcel: Parcel?, small: UInt8, _ flag: Bool) {
      story.tell(
        "\(letter.parcel.number) \(letter.text) \(letter.numbers) \(letter.small) \(text) "
          + "\(parcel?.number ?? -1) \(small) \(flag)")
    }
    func perform(_ body: @escaping @Sendable (Int) -> String, _ other: (@Sendable () -> Int)?) {
      story.tell("\(body(3)) \(other?() ?? -1)")
    }
    func weigh(_ one: any Weighted, _ other: (any Weighted)?, _ any: Any?, _ error: any Error) {
      story.tell("\(one.weight) \(other?.weight ?? -1) \(any ?? "none") \(error)")
    }
    func list(_ all: [Letter], _ table: [String: Int], _ pair: (String, Int), _ range: Range<Int>) {
      story.tell("\(all.map(\.text)) \(table) \(pair) \(range)")
    }
    func keep(_ parcel: Parcel) { story.tell("kept \(parcel.number)") }
    func thingNEN(_ a: Parcel, _ b: Nothing, _ c: Parcel) { story.tell("\(a.number) \(c.number)") }
    func listNNNNE(_ a: [Int], _ b: [Int], _ c: [Int], _ d: [Int], _ e: Nothing) {
      story.tell("\(a + b + c + d)")
    }
    func onlyETE(_ a: Only, _ b: Parcel, _ c: Only) { story.tell("\(b.number)") }
    func typeET(_ a: Int.Type, _ b: Parcel) { story.tell("\(a) \(b.number)") }
    func nothing(_ a: Nothing) { story.tell("nothing") }
    func zeros(_ a: Nothing, _ b: Only, _ c: (), _ d: Int.Type, _ e: Nothing) { story.tell("\(d)") }
  }

  /// The values that are sent to a target, and the text that it tells.
  private struct Row: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let told: String
    let send: @Sendable (any Posting) -> Void

    init(_ name: String, _ told: String, _ send: @escaping @Sendable (any Posting) -> Void) {
      (testDescription, self.told, self.send) = (name, told, send)
    }

    static let all = [
      Row(
        "a structure, texts, an object and small numbers",
        "1 long enough for the heap (2, 0.5) 9 text 3 4 200 true"
      ) {
        $0.send(
          Letter(parcel: Parcel(1), text: "long enough for the heap", numbers: (2, 0.5), small: 9),
          "text \(3)", Parcel(4), small: 200, true)
      },
      Row("no object", "1  (2, 0.5) 0  -1 0 false") {
        $0.send(
          Letter(parcel: Parcel(1), text: "", numbers: (2, 0.5), small: 0), "", nil, small: 0, false
        )
      },
      Row("closures", "8 and 3 8") {
        let parcel = Parcel(8)
        $0.perform({ "\(parcel.number) and \($0)" }, { parcel.number })
      },
      Row("no closure", "3 -1") { $0.perform({ "\($0)" }, nil) },
      Row("values of protocols", "2.5 1.5 any 1 Lame(name: \"one\")") {
        let letter = Letter(parcel: Parcel(1), text: "", numbers: (2, 2.5), small: 0)
        $0.weigh(letter, 1.5, "any \(1)", Lame(name: "one"))
      },
      Row("none of them", "0.25 -1.0 none CancellationError()") {
        $0.weigh(0.25, nil, nil, CancellationError())
      },
      Row("collections and tuples", "[\"a 1\", \"a 1\"] [\"k\": 1] (\"pair 1\", 2) 3..<5") {
        let letter = Letter(parcel: Parcel(1), text: "a \(1)", numbers: (2, 2.5), small: 0)
        $0.list([letter, letter], ["k": 1], ("pair \(1)", 2), 3..<5)
      },
      Row("a property", "mood good 1") { $0.mood = "good \(1)" },
      Row("a property that is nil", "mood none") { $0.mood = nil },
      Row("thingNEN", "7 7") { $0.thingNEN(thing, Nothing(), thing) },
      Row("listNNNNE", "[1, 2, 3, 4]") { $0.listNNNNE([1], [2], [3], [4], Nothing()) },
      Row("onlyETE", "7") { $0.onlyETE(Only.one, thing, Only.one) },
      Row("typeET", "Int 7") { $0.typeET(Int.self, thing) },
      Row("nothing", "nothing") { $0.nothing(Nothing()) },
      Row("zeros", "Int") { $0.zeros(Nothing(), Only.one, (), Int.self, Nothing()) },
    ]
  }

  @Forwardable
  private protocol Giving: AnyObject {
    func nothing(_ thing: Parcel, _ given: Nothing) throws -> Nothing
    func change(_ given: inout Nothing, _ thing: Parcel) throws
    func wait(_ thing: Parcel, _ given: Nothing) async throws -> Nothing
  }

  private final class Giver: Giving {
    var asked = 0
    private func give<Value>(_ value: Value) -> Value {
      asked += 1
      return value
    }
    func nothing(_ thing: Parcel, _ given: Nothing) throws -> Nothing { give(given) }
    func change(_ given: inout Nothing, _ thing: Parcel) throws { given = give(Nothing()) }
    func wait(_ thing: Parcel, _ given: Nothing) async throws -> Nothing { give(given) }
  }

  @Suite("Values of all kinds")
  struct ValueTests {
    private let story = Story()
    private let queue = DispatchQueue(label: "values")

    @Test(
      "targets get them as they were sent, on a queue that calls later as well",
      arguments: Row.all, ProxyWay.allCases)
    private func targets(_ row: Row, _ way: ProxyWay) {
      let (targets, later) = (Multicast<PostingProxy>(way.untyped), DispatchQueue(label: "later"))
      for lane in [DeliveryLane.caller, .caller, .blocking(queue), .queue(later)] {
        targets.add(unchecked: Office(story), strongly: true, on: lane)
      }
      for _ in 0..<3 {
        later.suspend()
        row.send(targets.proxy)
        #expect(story.take() == Array(repeating: row.told, count: 3))
        later.resume()
        later.sync {}
        #expect(story.take() == [row.told])
      }
    }

    @Test("each kind of proxy behind a proxy gets them", arguments: Row.all)
    private func behind(row: Row) {
      let (office, spy, source) = (Office(story), Spy<PostingProxy>(), DataSource<PostingProxy>())
      source.setFallback(office)
      let (watched, outer) = (Intercepting<PostingProxy>(office), Multicast<PostingProxy>())
      watched.untyped.before { call in
        // A value without memory is an argument as well; `nil` is none.
        for index in call.arguments.indices
        where call.arguments[index] == nil && row.told != "mood none" {
          Issue.record("argument \(index)")
        }
      }
      outer.add(source.proxy)
      for proxy in [SingleTarget<PostingProxy>(office).proxy, source.proxy, watched.proxy] {
        row.send(proxy)
        #expect(story.take() == [row.told])
      }
      row.send(outer.proxy)
      #expect(story.take() == [row.told])
      row.send(spy.proxy)
      #expect(spy.transcript.count == 1)
    }

    @Test("empty values may be results, inout variables and awaited")
    func results() async throws {
      let (targets, giver) = (Multicast<GivingProxy>(), Giver())
      targets.add(giver, strongly: true)
      #expect(try targets.proxy.nothing(thing, Nothing()) == Nothing())
      var given = Nothing()
      try targets.proxy.change(&given, thing)
      #expect(try await targets.proxy.wait(thing, given) == Nothing())
      #expect(giver.asked == 3)
    }

    @Test("they are released after the call, and not before", arguments: ProxyWay.allCases)
    func keeping(_ way: ProxyWay) {
      let targets = Multicast<PostingProxy>(way.untyped)
      targets.add(unchecked: Office(story), strongly: true, on: .queue(queue))
      for _ in 0..<2 {
        weak var known: Parcel?
        queue.suspend()
        do {
          let parcel = Parcel(1)
          known = parcel
          targets.proxy.keep(parcel)
        }
        #expect(known != nil)
        queue.resume()
        // The values of a block are released before the next block begins.
        queue.sync {}
        #expect(story.take() == ["kept 1"])
        #expect(known == nil)
      }
    }
  }
#endif
