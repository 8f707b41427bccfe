// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import Forwarding

  final class Parcel: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
  }

  struct Letter: Sendable {
    var parcel: Parcel
    var text: String
    var numbers: (Int, Double)
    var small: UInt8
  }

  protocol Weighted: Sendable { var weight: Double { get } }
  extension Double: Weighted { var weight: Double { self } }
  extension Letter: Weighted { var weight: Double { numbers.1 } }

  /// A protocol whose requirements have values of all kinds.
  @Forwardable
  protocol Posting: AnyObject {
    func tell(_ number: Int)
    func send(_ letter: Letter, _ text: String, _ parcel: Parcel?, small: UInt8, _ flag: Bool)
    func perform(_ body: @escaping @Sendable (Int) -> String, _ other: (@Sendable () -> Int)?)
    func weigh(_ one: any Weighted, _ other: (any Weighted)?, _ any: Any?, _ error: any Error)
    func list(_ all: [Letter], _ table: [String: Int], _ pair: (String, Int), _ range: Range<Int>)
    func keep(_ parcel: Parcel)
    func fail(_ number: Int) throws
    func failPlainly(_ number: Int) throws(Lame)
    @Optional func rest(_ number: Int)
    @Optional func restOrFail(_ number: Int) throws
    @Otherwise(-1) func count(_ number: Int) -> Int
    @Otherwise(-1) func measure(_ number: Int) throws(Lame) -> Int
    @Optional func rate(_ number: Int) throws -> Int
    var mood: String? { get set }
    func read(_ pointer: UnsafePointer<Int32>)
    func write(_ pointer: UnsafeMutablePointer<Int32>)
    func look(_ memory: UnsafeRawPointer?)
    func visit(_ body: (Int) -> Void)
    @Otherwise(0) func change(_ number: inout Int) -> Int
  }

  final class Office: Posting, @unchecked Sendable {
    let story: Story
    let errand = Guarded<(@Sendable (Int) -> Void)?>(nil)
    var mood: String? {
      get { "calm" }
      set { tell("mood \(newValue ?? "none")") }
    }

    init(_ story: Story) { self.story = story }

    func does(_ body: @escaping @Sendable (Int) -> Void) { errand.withLock { $0 = body } }
    private func tell(_ text: String) { story.tell(text) }

    func tell(_ number: Int) {
      tell("told \(number)")
      errand.read { $0 }?(number)
    }
    func send(_ letter: Letter, _ text: String, _ parcel: Parcel?, small: UInt8, _ flag: Bool) {
      tell(
        "\(letter.parcel.number) \(letter.text) \(letter.numbers) \(letter.small) \(text) "
          + "\(parcel?.number ?? -1) \(small) \(flag)")
    }
    func perform(_ body: @escaping @Sendable (Int) -> String, _ other: (@Sendable () -> Int)?) {
      tell("\(body(3)) \(other?() ?? -1)")
    }
    func weigh(_ one: any Weighted, _ other: (any Weighted)?, _ any: Any?, _ error: any Error) {
      tell("\(one.weight) \(other?.weight ?? -1) \(any ?? "none") \(error)")
    }
    func list(_ all: [Letter], _ table: [String: Int], _ pair: (String, Int), _ range: Range<Int>) {
      tell("\(all.map(\.text)) \(table) \(pair) \(range)")
    }
    func keep(_ parcel: Parcel) { tell("kept \(parcel.number)") }
    func fail(_ number: Int) throws {
      tell("fails \(number)")
      throw Lame(name: "\(number)")
    }
    func failPlainly(_ number: Int) throws(Lame) { throw Lame(name: "plain \(number)") }
    func count(_ number: Int) -> Int {
      tell("counts \(number)")
      errand.read { $0 }?(number)
      return number
    }
    func measure(_ number: Int) throws(Lame) -> Int {
      if number < 0 { throw Lame(name: "\(number)") }
      return number
    }
    func read(_ pointer: UnsafePointer<Int32>) { tell("read \(pointer.pointee)") }
    func write(_ pointer: UnsafeMutablePointer<Int32>) { tell("wrote \(pointer.pointee)") }
    func look(_ memory: UnsafeRawPointer?) { tell("looked") }
    func visit(_ body: (Int) -> Void) { body(7) }
    func change(_ number: inout Int) -> Int {
      number += 1
      return number
    }
  }

  /// Implements the optional requirements.
  final class Rests: Posting, @unchecked Sendable {
    let office: Office
    init(_ story: Story) { office = Office(story) }
    var mood: String?
    func tell(_ number: Int) {}
    func send(_ letter: Letter, _ text: String, _ parcel: Parcel?, small: UInt8, _ flag: Bool) {}
    func perform(_ body: @escaping @Sendable (Int) -> String, _ other: (@Sendable () -> Int)?) {}
    func weigh(_ one: any Weighted, _ other: (any Weighted)?, _ any: Any?, _ error: any Error) {}
    func list(_ all: [Letter], _ table: [String: Int], _ pair: (String, Int), _ range: Range<Int>) {
    }
    func keep(_ parcel: Parcel) {}
    func fail(_ number: Int) throws {}
    func failPlainly(_ number: Int) throws(Lame) {}
    func rest(_ number: Int) { office.story.tell("rests \(number)") }
    func restOrFail(_ number: Int) throws {
      if number < 0 { throw Lame(name: "rests") }
      office.story.tell("rests or fails \(number)")
    }
    func count(_ number: Int) -> Int { number }
    func measure(_ number: Int) throws(Lame) -> Int { number }
    func rate(_ number: Int) throws -> Int {
      if number < 0 { throw Lame(name: "rate") }
      return number
    }
    func read(_ pointer: UnsafePointer<Int32>) {}
    func write(_ pointer: UnsafeMutablePointer<Int32>) {}
    func look(_ memory: UnsafeRawPointer?) {}
    func visit(_ body: (Int) -> Void) {}
    func change(_ number: inout Int) -> Int { 0 }
  }

  /// The values that are sent to a target, and the text that it logs.
  let postings: [(name: String, send: @Sendable (any Posting) -> Void, told: String)] = [
    ("a number", { $0.tell(5) }, "told 5"),
    (
      "a structure, texts, an object and small numbers",
      {
        $0.send(
          Letter(parcel: Parcel(1), text: "long enough for the heap", numbers: (2, 0.5), small: 9),
          "text \(3)", Parcel(4), small: 200, true)
      }, "1 long enough for the heap (2, 0.5) 9 text 3 4 200 true"
    ),
    (
      "no object",
      {
        $0.send(
          Letter(parcel: Parcel(1), text: "", numbers: (2, 0.5), small: 0), "", nil, small: 0, false
        )
      }, "1  (2, 0.5) 0  -1 0 false"
    ),
    (
      "closures",
      {
        let parcel = Parcel(8)
        $0.perform({ "\(parcel.number) and \($0)" }, { parcel.number })
      }, "8 and 3 8"
    ),
    ("no closure", { $0.perform({ "\($0)" }, nil) }, "3 -1"),
    (
      "values of protocols",
      {
        let letter = Letter(parcel: Parcel(1), text: "", numbers: (2, 2.5), small: 0)
        $0.weigh(letter, 1.5, "any \(1)", Lame(name: "one"))
      }, "2.5 1.5 any 1 Lame(name: \"one\")"
    ),
    (
      "none of them", { $0.weigh(0.25, nil, nil, CancellationError()) },
      "0.25 -1.0 none CancellationError()"
    ),
    (
      "collections and tuples",
      {
        let letter = Letter(parcel: Parcel(1), text: "a \(1)", numbers: (2, 2.5), small: 0)
        $0.list([letter, letter], ["k": 1], ("pair \(1)", 2), 3..<5)
      }, "[\"a 1\", \"a 1\"] [\"k\": 1] (\"pair 1\", 2) 3..<5"
    ),
    ("a property", { $0.mood = "good \(1)" }, "mood good 1"),
    ("a property that is nil", { $0.mood = nil }, "mood none"),
  ]

  /// Memory that a sender lends.
  let postedLoans: [(name: String, send: @Sendable (any Posting) -> Void)] = [
    ("read:", { proxy in withUnsafePointer(to: 5) { proxy.read($0) } }),
    (
      "write:",
      { proxy in
        var number: Int32 = 5
        withUnsafeMutablePointer(to: &number) { proxy.write($0) }
      }
    ),
    ("look:", { proxy in withUnsafePointer(to: 5) { proxy.look(UnsafeRawPointer($0)) } }),
  ]

  /// Tests of proxies whose targets are on a queue.
  protocol PostingTests {
    var story: Story { get }
    var queue: DispatchQueue { get }
  }

  extension PostingTests {
    func posting(_ way: ProxyWay) -> Multicast<PostingProxy> {
      let untyped = way.untyped
      story.listen(to: untyped)
      return Multicast<PostingProxy>(untyped)
    }

    /// The log after all enqueued blocks have run.
    func heard() -> [String] {
      queue.sync {}
      return story.take()
    }
  }
#endif
