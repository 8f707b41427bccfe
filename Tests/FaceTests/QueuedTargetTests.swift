#if Macros
  import Dispatch
  import ForwardingTestSupport
  import Testing

  @testable import Forwarding

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

  /// Requirements with values of all kinds.
  @Forwardable
  private protocol Posting: AnyObject {
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

  private final class Office: Posting, @unchecked Sendable {
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

  /// Implements what is optional.
  private final class Rests: Posting, @unchecked Sendable {
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

  @Forwardable
  private protocol Stacking {
    mutating func push(_ number: Int)
    @Optional func rest(_ number: Int)
    @Optional func rate(_ number: Int) throws -> Int
    @Otherwise(0) var sum: Int { get }
  }

  private struct Stack: Stacking {
    let story: Story
    var sum = 0
    mutating func push(_ number: Int) {
      sum += number
      story.tell("sum \(sum)")
    }
  }

  /// The values that reach a target, and what it says.
  private let sendings: [(name: String, send: @Sendable (any Posting) -> Void, told: String)] = [
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
  private let loans: [(name: String, send: @Sendable (any Posting) -> Void)] = [
    ("read:", { face in withUnsafePointer(to: 5) { face.read($0) } }),
    (
      "write:",
      { face in
        var number: Int32 = 5
        withUnsafeMutablePointer(to: &number) { face.write($0) }
      }
    ),
    ("look:", { face in withUnsafePointer(to: 5) { face.look(UnsafeRawPointer($0)) } }),
  ]

  @Suite("A target of a face on a queue", .timeLimit(.minutes(5)))
  struct QueuedTargetTests {
    private let story = Story()
    private let queue = DispatchQueue(label: "office")

    private func posting(_ way: FaceWay) -> Multicast<PostingProxy> {
      let proxy = way.proxy
      story.listen(to: proxy)
      return Multicast<PostingProxy>(proxy)
    }

    private func heard() -> [String] {
      queue.sync {}
      return story.take()
    }

    @Test("is called there, behind what the queue was given before", arguments: FaceWay.allCases)
    func order(_ way: FaceWay) {
      let targets = posting(way)
      let (office, mark) = (Office(story), QueueMark.of(queue))
      targets.add(unchecked: office, on: .queue(queue))
      office.does { [story] _ in story.tell("on the queue: \(mark.isCurrent)") }
      for _ in 0..<2 {
        queue.suspend()
        queue.async { [story] in story.tell("before") }
        targets.face.tell(1)
        queue.async { [story] in story.tell("between") }
        targets.face.tell(2)
        queue.async { [story] in story.tell("behind") }
        #expect(story.take() == [])
        queue.resume()
        let there = "on the queue: true"
        #expect(heard() == ["before", "told 1", there, "between", "told 2", there, "behind"])
      }
    }

    @Test("gets the values whole", arguments: sendings.indices, FaceWay.allCases)
    func values(_ row: Int, _ way: FaceWay) {
      let targets = posting(way)
      targets.add(unchecked: Office(story), strongly: true, on: .queue(queue))
      targets.add(Rests(story), strongly: true)
      for _ in 0..<3 {
        queue.suspend()
        sendings[row].send(targets.face)
        #expect(story.take() == [])
        queue.resume()
        #expect(heard() == [sendings[row].told])
      }
    }

    @Test("gets no memory that its sender lends", arguments: loans.indices, FaceWay.allCases)
    func borrowed(_ row: Int, _ way: FaceWay) throws {
      let told = Guarded<[any Error]>([])
      let targets = posting(way)
      targets.onDiagnostic = { diagnostic in
        switch diagnostic {
        case .unheard(_, let error), .failed(_, _, let error): told.withLock { $0.append(error) }
        default: break
        }
      }
      targets.add(unchecked: Office(story), strongly: true, on: .queue(queue))
      for count in 1...2 {
        loans[row].send(targets.face)
        #expect(heard() == [])
        #expect(told.read { $0.count } == count)
      }
      for error in told.read({ $0 }) {
        guard case ForwardingError.borrowedArgument(2, _) = error else {
          Issue.record(error)
          continue
        }
      }
    }

    @Test(
      "is not called once it is removed, or has died; the call keeps nothing of it alive",
      arguments: FaceWay.allCases)
    func gone(_ way: FaceWay) throws {
      var targets: Multicast<PostingProxy>? = posting(way)
      let removed = Office(story)
      var dying: Office? = Office(story)
      let token = try #require(targets).add(unchecked: removed, on: .queue(queue))
      targets?.add(unchecked: try #require(dying), on: .queue(queue))
      targets?.face.tell(1)
      #expect(heard() == ["told 1", "told 1"])
      queue.suspend()
      targets?.face.tell(2)
      weak let weakly = dying
      dying = nil
      #expect(weakly == nil)
      let proxy = try #require(targets).proxy
      // It does not wait for what is on its way.
      #expect(ends { _ = try proxy.removeAndWait(token) })
      queue.resume()
      #expect(heard() == [])
      withExtendedLifetime(removed) {}
      targets = nil
    }

    @Test("is not called for a proxy that is gone", arguments: FaceWay.allCases)
    func withoutProxy(_ way: FaceWay) {
      let office = Office(story)
      weak var proxy: MulticastProxy?
      do {
        let targets = posting(way)
        proxy = targets.proxy
        targets.add(unchecked: office, strongly: true, on: .queue(queue))
        targets.face.tell(1)
        #expect(heard() == ["told 1"])
        queue.suspend()
        targets.face.tell(2)
      }
      #expect(proxy == nil)
      queue.resume()
      #expect(heard() == [])
    }

    @Test("lets go of the values behind the call, and not before", arguments: FaceWay.allCases)
    func keeping(_ way: FaceWay) {
      let targets = posting(way)
      targets.add(unchecked: Office(story), strongly: true, on: .queue(queue))
      for _ in 0..<2 {
        weak var known: Parcel?
        queue.suspend()
        do {
          let parcel = Parcel(1)
          known = parcel
          targets.face.keep(parcel)
        }
        #expect(known != nil)
        queue.resume()
        #expect(heard() == ["kept 1"])
        // A block is let go when the next has begun.
        queue.sync {}
        #expect(known == nil)
      }
    }

    @Test("fails there: its proxy is told, and its sender is not", arguments: FaceWay.allCases)
    func errors(_ way: FaceWay) throws {
      let targets = posting(way)
      targets.add(unchecked: Office(story), strongly: true, on: .queue(queue))
      try targets.face.fail(1)
      try targets.face.failPlainly(2)
      #expect(
        heard() == [
          "fails 1", "failed fail: Lame(name: \"1\")",
          "failed failPlainly: Lame(name: \"plain 2\")",
        ])
    }

    @Test("leaves out there what is optional, which is no error", arguments: FaceWay.allCases)
    func optional(_ way: FaceWay) throws {
      let targets = posting(way)
      let (one, other) = (Office(story), Rests(story))
      targets.add(unchecked: one, on: .queue(queue))
      for _ in 0..<2 {
        targets.face.rest(1)
        try targets.face.restOrFail(1)
        queue.sync {}
      }
      // Once it is known, nothing is given to the queue.
      #expect(heard().suffix(2) == ["unanswered rest:", "unanswered restOrFail:"])
      #expect(MethodTable.of(Office.self).own("rest:") == nil)
      targets.add(unchecked: other, on: .queue(queue))
      targets.face.rest(2)
      try targets.face.restOrFail(2)
      try targets.face.restOrFail(-2)
      #expect(
        heard() == ["rests 2", "rests or fails 2", "failed restOrFail: Lame(name: \"rests\")"])
    }

    @Test("is told what has a result, which the others answer", arguments: FaceWay.allCases)
    func questions(_ way: FaceWay) throws {
      let targets = posting(way)
      targets.add(unchecked: Office(story), strongly: true, on: .queue(queue))
      #expect(targets.face.count(1) == -1)
      #expect(heard().contains("counts 1"))
      #expect(try targets.face.measure(-3) == -1)
      #expect(heard().contains("failed measure: Lame(name: \"-3\")"))
      let here = Office(story)
      targets.add(here)
      #expect(targets.face.count(2) == 2)
      #expect(heard() == ["counts 2", "counts 2"])
    }

    @Test("holds up a removal that waits while it runs", arguments: FaceWay.allCases)
    func removing(_ way: FaceWay) {
      let targets = posting(way)
      let office = Office(story)
      let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      office.does { [story] _ in
        began.signal()
        goOn.wait()
        story.tell("ends")
      }
      let token = targets.add(unchecked: office, strongly: true, on: .queue(queue))
      let (proxy, story) = (targets.proxy, story)
      targets.face.tell(1)
      began.wait()
      beginThread(after: 0.05) { goOn.signal() }
      #expect(
        ends {
          _ = try proxy.removeAndWait(token)
          story.tell("removed")
        })
      #expect(heard() == ["told 1", "ends", "removed"])
    }

    @Test(
      "does there what a target of a message does: it is inside of one, and waits for no removal",
      arguments: FaceWay.allCases)
    func inside(_ way: FaceWay) throws {
      let targets = posting(way)
      let office = Office(story)
      let (proxy, story) = (targets.proxy, story)
      let token = Guarded<MulticastProxy.Token?>(nil)
      office.does { _ in
        story.tell("inside \(BlockingChain.isInside)")
        guard let token = token.read({ $0 }) else { return }
        do { try proxy.removeAndWait(token) } catch { story.tell("\(error)") }
      }
      let added = targets.add(unchecked: office, strongly: true, on: .queue(queue))
      token.withLock { $0 = added }
      targets.face.tell(1)
      #expect(heard() == ["told 1", "inside true", "\(ForwardingError.wouldDeadlock)"])
      queue.sync { #expect(!BlockingChain.isInside) }
    }

    @Test("sends on to others, each in its order", arguments: FaceWay.allCases)
    func sending(_ way: FaceWay) {
      let (outer, inner) = (posting(way), posting(way))
      let other = DispatchQueue(label: "other")
      let (first, second) = (Office(story), Office(story))
      outer.add(unchecked: first, on: .queue(queue))
      inner.add(unchecked: second, on: .blocking(other))
      nonisolated(unsafe) let face = inner.face
      first.does { [story] number in
        face.tell(10 * number)
        story.tell("counted \(face.count(number))")
      }
      for number in 1...3 { outer.face.tell(number) }
      #expect(
        heard()
          == (1...3).flatMap {
            ["told \($0)", "told \(10 * $0)", "counts \($0)", "counted \($0)"]
          })
    }

    @Test("is not asked by the answer of another", arguments: FaceWay.allCases)
    func dataSource(_ way: FaceWay) {
      final class Messages: DataSourceProxy, @unchecked Sendable {}
      let proxy = way == .calls ? DataSourceProxy() : Messages()
      let source = DataSource<PostingProxy>(proxy)
      let (here, there, last) = (Office(story), Office(story), Rests(story))
      source.add(unchecked: there, on: .queue(queue))
      source.add(here)
      source.face.tell(1)
      let told = heard()
      withExtendedLifetime(last) {}
      #expect(told == ["told 1", "told 1"])
    }

    @Test("may be a value, which changes there", arguments: FaceWay.allCases)
    func values(_ way: FaceWay) throws {
      let targets = Multicast<StackingProxy>(way.proxy)
      story.listen(to: targets.proxy)
      targets.add(unchecked: Stack(story: story), on: .queue(queue))
      targets.add(unchecked: Stack(story: story), on: .blocking(queue))
      for number in 1...2 {
        targets.face.push(number)
        targets.face.rest(number)
      }
      #expect(throws: ForwardingError.nobodyAnswered("rate:")) { try targets.face.rate(1) }
      #expect(targets.face.sum == 3)
      #expect(
        heard().filter { $0.hasPrefix("sum") } == ["sum 1", "sum 1", "sum 3", "sum 3"])
    }

    @Test("has its order beside targets of all kinds", arguments: FaceWay.allCases)
    func kinds(_ way: FaceWay) {
      let targets = posting(way)
      let tell = { (name: String) in
        let office = Office(Story())
        office.does { [story] number in story.tell("\(name) \(number)") }
        return office
      }
      targets.add(unchecked: tell("queued"), strongly: true, on: .queue(queue))
      targets.add(unchecked: tell("waited"), strongly: true, on: .blocking(queue))
      targets.add(tell("called"), strongly: true)
      targets.add(unchecked: tell("once"), strongly: true, on: .queue(queue), once: true)
      targets.add(unchecked: tell("first"), strongly: true, on: .queue(queue), priority: 1)
      targets.block(targets.add(unchecked: tell("blocked"), strongly: true, on: .queue(queue)))
      targets.add(
        unchecked: tell("late"), strongly: true, on: .blocking(queue, deadline: .seconds(60)))
      targets.face.tell(1)
      #expect(
        heard() == [
          "first 1", "queued 1", "waited 1", "called 1", "once 1", "late 1",
        ])
      targets.face.tell(2)
      #expect(heard() == ["first 2", "queued 2", "waited 2", "called 2", "late 2"])
    }
  }

  /// On the main actor.
  @Forwardable
  @MainActor
  private protocol Showing: AnyObject {
    func show(_ text: String)
    @Otherwise(0) var height: Int { get }
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
  }

  @Suite("A target on an actor that has a lane to a queue")
  struct IsolatedLaneTests {
    @Test("is not called there, as the actor is elsewhere", arguments: FaceWay.allCases)
    @MainActor
    func elsewhere(_ way: FaceWay) {
      let (story, queue) = (Story(), DispatchQueue(label: "elsewhere"))
      let targets = Multicast<ShowingProxy>(way.proxy)
      story.listen(to: targets.proxy)
      targets.add(Sign(story), strongly: true, on: .queue(queue))
      targets.face.show("text")
      #expect(targets.face.height == 0)
      queue.sync {}
      let elsewhere = { (selector: Selector) in
        "failed \(selector) \(ForwardingError.wrongIsolation(selector))"
      }
      let told = story.take().filter { !$0.hasPrefix("unanswered") }
      #expect(told == [elsewhere("show:"), elsewhere("height")])
    }

    @Test("is called there if that is its queue", arguments: FaceWay.allCases)
    @MainActor
    func mainQueue(_ way: FaceWay) async {
      let (story, targets) = (Story(), Multicast<ShowingProxy>(way.proxy))
      story.listen(to: targets.proxy)
      targets.add(Sign(story), strongly: true, on: .queue(.main))
      targets.face.show("text")
      #expect(story.take() == [])
      await withCheckedContinuation { continuation in
        DispatchQueue.main.async { continuation.resume() }
      }
      #expect(story.take() == ["shows text"])
    }
  }

  @Suite("A target of a face on a queue that is waited for", .timeLimit(.minutes(5)))
  struct WaitedTargetTests {
    private let story = Story()
    private let queue = DispatchQueue(label: "office")

    private func posting(_ way: FaceWay) -> Multicast<PostingProxy> {
      let proxy = way.proxy
      story.listen(to: proxy)
      return Multicast<PostingProxy>(proxy)
    }

    @Test("is called there, while the sender waits", arguments: FaceWay.allCases)
    func waits(_ way: FaceWay) throws {
      let targets = posting(way)
      let (office, mark, proxy) = (Office(story), QueueMark.of(queue), targets.proxy)
      targets.add(unchecked: office, on: .blocking(queue))
      office.does { [story] _ in
        story.tell("\(mark.isCurrent) \(BlockingChain.isInside)")
        do { try proxy.removeAndWait(office) } catch { story.tell("\(error)") }
      }
      queue.async { [story] in story.tell("before") }
      #expect(targets.face.count(1) == 1)
      #expect(
        story.take() == ["before", "counts 1", "true true", "\(ForwardingError.wouldDeadlock)"])
      #expect(!BlockingChain.isInside)
      office.does { _ in }
      queue.sync { #expect(targets.face.count(2) == 2) }
      #expect(story.take() == ["counts 2"])
    }

    @Test("answers, or throws, to its sender", arguments: FaceWay.allCases)
    func answers(_ way: FaceWay) throws {
      let targets = posting(way)
      let office = Office(story)
      let token = targets.add(unchecked: office, on: .blocking(queue))
      #expect(try targets.face.measure(4) == 4)
      #expect(throws: Lame(name: "-1")) { try targets.face.measure(-1) }
      #expect(throws: Lame(name: "2")) { try targets.face.fail(2) }
      #expect(throws: Lame(name: "plain 3")) { try targets.face.failPlainly(3) }
      #expect(targets.face.mood == "calm")
      var number = 5
      #expect(targets.face.change(&number) == 6)
      #expect(number == 6)
      #expect(story.take() == ["fails 2"])
      for row in loans { row.send(targets.face) }
      #expect(story.take() == ["read 5", "wrote 5", "looked"])
      for row in sendings {
        row.send(targets.face)
        #expect(story.take() == [row.told])
      }
      targets.block(token)
      #expect(try targets.face.measure(4) == -1)
      #expect(targets.face.count(4) == -1)
    }

    @Test("may leave out what is optional", arguments: FaceWay.allCases)
    func optional(_ way: FaceWay) throws {
      let targets = posting(way)
      let (one, other) = (Office(story), Rests(story))
      targets.add(unchecked: one, on: .blocking(queue))
      for _ in 0..<2 {
        targets.face.rest(1)
        #expect(throws: ForwardingError.nobodyAnswered("rate:")) { try targets.face.rate(1) }
      }
      #expect(
        story.take() == [
          "unanswered rest:", "unanswered rate:", "unanswered rest:", "unanswered rate:",
        ])
      #expect(MethodTable.of(Office.self).own("rest:") == nil)
      targets.add(unchecked: other, on: .blocking(queue))
      targets.face.rest(2)
      #expect(try targets.face.rate(2) == 2)
      #expect(throws: Lame(name: "rate")) { try targets.face.rate(-2) }
      #expect(story.take() == ["rests 2"])
    }

    @Test("is refused where its queue waits for itself", arguments: FaceWay.allCases)
    func circle(_ way: FaceWay) {
      let (outer, middle, inner) = (posting(way), posting(way), posting(way))
      let other = DispatchQueue(label: "other")
      let (first, second, last) = (Office(story), Office(story), Office(story))
      outer.add(unchecked: first, on: .blocking(queue))
      middle.add(unchecked: second, on: .blocking(other))
      inner.add(unchecked: last, on: .blocking(queue))
      nonisolated(unsafe) let (outerFace, middleFace, innerFace) = (
        outer.face, middle.face, inner.face
      )
      first.does { middleFace.tell($0) }
      second.does { innerFace.tell($0) }
      #expect(ends { outerFace.tell(1) })
      #expect(
        story.take() == ["told 1", "told 1", "unheard tell: \(ForwardingError.wouldDeadlock)"])
    }

    @Test("is refused where a block of its queue waits for deliveries", arguments: FaceWay.allCases)
    func removing(_ way: FaceWay) throws {
      let targets = posting(way)
      targets.add(unchecked: Office(story), strongly: true, on: .blocking(queue))
      targets.face.tell(1)
      let refused: Void? = QueueMark.of(queue).inside(of: targets.proxy) {
        targets.face.tell(2)
        #expect(throws: (any Error).self) { try targets.face.fail(2) }
      }
      #expect(refused != nil)
      targets.face.tell(3)
      #expect(
        story.take() == [
          "told 1", "unheard tell: \(ForwardingError.wouldDeadlock)", "told 3",
        ])
    }

    @Test("gets what is no message, too, wherever its sender is")
    func noMessage() {
      let targets = posting(.calls)
      targets.add(unchecked: Office(story), strongly: true, on: .blocking(queue))
      let (sender, global) = (DispatchQueue(label: "sender"), DispatchQueue.global())
      _ = QueueMark.of(sender)
      var numbers: [Int] = []
      let send = { targets.face.visit { numbers.append($0) } }
      send()
      for queue in [sender, global, queue] { queue.sync(execute: send) }
      #expect(numbers == [7, 7, 7, 7])
      #expect(story.take() == [])
    }
  }
#endif
