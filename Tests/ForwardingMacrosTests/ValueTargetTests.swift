// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import ProxyProtocols
  import Forwarding
  import ForwardingTestSupport
  import Testing

  private struct Sum: NamedMeter {
    var sum: Int
    var limit: Int?
    var name: String? = "none"
    private var entries: [String: Int] = [:]
    init(_ sum: Int = 0) { self.sum = sum }
    mutating func add(_ number: Int) { sum += number }
    subscript(key key: String) -> Int? {
      get { entries[key] }
      set { entries[key] = newValue }
    }
    mutating func load(_ number: Int) async { sum += number }
    mutating func rename(_ name: String) { self.name = name }
  }

  private final class Total: Meter {
    var sum = 0
    var limit: Int?
    func add(_ number: Int) { sum += number }
    subscript(key key: String) -> Int? {
      get { sum }
      set { sum = newValue ?? 0 }
    }
    func reset() { sum = 0 }
    func load(_ number: Int) async { sum += number }
  }

  /// Notes whether a call that changes it has its storage for itself.
  private struct Unique: NamedMeter {
    final class Storage { var uses: [Bool] = [] }
    var storage = Storage()
    // More than an existential holds without a copy on the heap.
    var filling = (0, 0, 0, 0)
    var sum: Int { storage.uses.count }
    var limit: Int?
    var name: String? { storage.uses.allSatisfy { $0 } ? "unique" : "shared" }
    subscript(key key: String) -> Int? {
      get { nil }
      set { note() }
    }
    mutating func note() {
      let isUnique = isKnownUniquelyReferenced(&storage)
      storage.uses.append(isUnique)
    }
    mutating func add(_ number: Int) { note() }
    mutating func reset() { note() }
    mutating func load(_ number: Int) async {}
    mutating func rename(_ name: String) { note() }
  }

  /// Reads the sum of a proxy at its end.
  private final class Part {
    let end: () -> Void
    init(_ end: @escaping () -> Void) { self.end = end }
    deinit { end() }
  }

  /// Adds through the proxy that it is a target of, and reads its own sum there.
  private struct Own: Meter {
    let all: Multicast<MeterProxy>
    var part: Part?
    var sum = 7
    var limit: Int?
    subscript(key key: String) -> Int? {
      get { nil }
      set {}
    }
    mutating func add(_ number: Int) {
      if number > 1 { all.proxy.add(number - 1) }
      limit = all.proxy.sum
      sum += number
    }
    mutating func reset() { part = nil }
    mutating func load(_ number: Int) async {}
  }

  @Forwardable
  private protocol Clicker: Sendable {
    mutating func count()
    @Otherwise(-1) var number: Int { get }
  }

  private struct Clicks: Clicker {
    var number = 0
    var whileCounting: @Sendable () -> Void = {}
    mutating func count() {
      whileCounting()
      number += 1
    }
  }

  @Suite("Values as targets of a proxy")
  struct ValueTargetTests {
    let meters = Multicast<MeterProxy>()

    @Test("the proxy stores the value, which mutating methods and setters change")
    func mutating() async {
      let value = Sum()
      meters.add(value)
      var proxy: any Meter = meters.proxy
      proxy.add(3)
      proxy.add(4)
      await proxy.load(5)
      proxy.limit = 7
      proxy[key: "a"] = 5
      #expect(proxy.sum == 12)
      #expect(proxy.limit == 7)
      #expect(proxy[key: "a"] == 5)
      #expect(proxy[key: "b"] == nil)
      #expect(value.sum == 0)
    }

    @Test("a value may be added twice, as two targets, which get messages and have tokens")
    func twice() throws {
      let tokens = [meters.add(Sum()), meters.add(Sum())]
      #expect(meters.count == 2)
      meters.proxy.add(1)
      #expect(meters.targets.map(\.sum) == [1, 1])
      _ = try meters.messages.add.report(4)
      #expect(try meters.messages.sum.all() == [5, 5])
      _ = try meters.messages.setSubscriptKey.report("a", 9)
      #expect(try meters.messages.subscriptKey.all("a") == [9, 9])
      for token in tokens { #expect(meters.remove(token)) }
      #expect(meters.isEmpty)
    }

    @Test("a value is asked for its type outside the lock of its proxy")
    func locks() {
      // The locks of the package share a few mutexes, so that a thread with two of them soon stops.
      for _ in 0..<1_000 {
        let meters = Multicast<MeterProxy>()
        let token = meters.add(Sum(), once: true)
        #expect("\(token)".hasPrefix("Sum #"))
        meters.proxy.add(1)
        #expect(meters.count == 0)
      }
    }

    @Test("objects beside it keep their identity, and each is named by its type in reports")
    func beside() throws {
      var total: Total? = Total()
      let queue = DispatchQueue(label: "named")
      meters.add(Sum())
      if let total { meters.add(total) }
      meters.add(unchecked: Sum(), on: .queue(queue))
      let reports = try [
        meters.messages.add.report(2).entries.map(\.token.type),
        meters.messages.sum.report().entries.map(\.token.type),
        meters.messages.reset.report().entries.map(\.token.type),
      ]
      for types in reports { #expect(types.map { "\($0)" } == ["Sum", "Total", "Sum"]) }
      meters.proxy.add(2)
      #expect(total?.sum == 2)
      total = nil
      queue.sync { #expect(meters.targets.map(\.sum) == [4, 4]) }
    }

    @Test("a value may be a single target, and have handlers")
    func one() {
      let single = SingleTarget<MeterProxy>(Sum())
      single.proxy.add(2)
      #expect(single.proxy.sum == 2)
      #expect(single.target?.sum == 2)
      let watched = Intercepting<MeterProxy>(Sum(), strongly: false)
      watched.messages.add.around { proceed, number in try proceed(number * 10) }
      watched.proxy.add(2)
      #expect(watched.proxy.sum == 20)
    }

    @Test("a call that changes it has it for itself, so that nothing in it is copied")
    func unique() {
      let named = Multicast<NamedMeterProxy>()
      named.add(Unique())
      meters.add(Unique())
      for proxy in [named.proxy, meters.proxy] as [any Meter] {
        var proxy = proxy
        for number in 0..<3 { proxy.add(number) }
        proxy.reset()
        proxy[key: "a"] = 1
        #expect(proxy.sum == 5)
      }
      named.proxy.rename("a")
      named.proxy.limit = 3
      #expect(named.proxy.limit == 3)
      #expect(named.proxy.name == "unique")
      #expect((meters.targets.first as? Unique)?.name == "unique")
    }

    @Test("it may be changed on a queue", arguments: ProxyWay.allCases)
    func queued(_ way: ProxyWay) {
      let (meters, queue) = (Multicast<MeterProxy>(way.untyped), DispatchQueue(label: "meters"))
      meters.add(unchecked: Sum(), on: .queue(queue))
      meters.add(unchecked: Sum(), on: .blocking(queue))
      for number in 1...2 {
        meters.proxy.add(number)
        meters.proxy.reset()
      }
      #expect(meters.proxy.sum == 3)
      queue.sync { #expect(meters.targets.map(\.sum) == [3, 3]) }
    }

    @Test("what it calls of itself, while a call changes it, has the answer without a target")
    func own() {
      var ended: [Int] = []
      let meters = meters
      meters.add(Own(all: meters, part: Part { ended.append(meters.proxy.sum) }))
      meters.proxy.add(3)
      #expect(meters.proxy.limit == 0)
      #expect(meters.proxy.sum == 10)
      // A part that it replaces may use the proxy in its deinit.
      meters.proxy.reset()
      #expect(ended == [0])
    }

    @Test("a call on another thread waits until a change is over")
    func waits() {
      let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let counters = Multicast<ClickerProxy>()
      counters.add(
        Clicks {
          began.signal()
          goOn.wait()
        })
      let proxy = counters.proxy
      beginThread { proxy.count() }
      began.wait()
      beginThread(after: 0.05) { goOn.signal() }
      #expect(proxy.number == 1)
    }

    @Test("no change of another thread is lost")
    func threads() {
      let counters = Multicast<ClickerProxy>()
      counters.add(Clicks())
      let proxy = counters.proxy
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        for _ in 0..<500 {
          let before = proxy.number
          proxy.count()
          #expect(proxy.number > before)
        }
      }
      #expect(proxy.number == 4_000)
    }

    @Test(
      "values are visited as they are, proxies as proxies, also by code that does not know of them")
    func visits() {
      func filled<Subject>(_ target: Subject) -> Multicast<Subject> {
        let made = Multicast<Subject>()
        made.add(target)
        return made
      }
      let inner = Multicast<MeterProxy>()
      inner.add(Sum(3))
      let outer = filled(inner.proxy)
      #expect(outer.proxy.sum == 3)
      #expect(outer.map { $0.sum } == [3])
      #expect(outer.remove(inner.proxy) == 1)
      #expect(outer.isEmpty)
      meters.add(Sum(1))
      meters.add(inner.proxy)
      #expect(meters.map { $0.sum } == [1, 3])
    }

    @Test("a visit that does not know of the proxy ends the program with a sentence")
    func unknown() async {
      await #expect(processExitsWith: .failure) {
        visitAll(Multicast<MeterProxy>())
      }
    }
  }

  private func visitAll<Subject>(_ all: Multicast<Subject>) { all.forEach { _ in } }
#endif
