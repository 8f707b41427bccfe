// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import FaceProtocols
  import Forwarding
  import Synchronization
  import Testing

  // What the tests of a multicast delegate in plain Swift, b9swift/MulticastDelegate, check: six behaviours,
  // in words of our own.

  @Forwardable
  private protocol Labelled: AnyObject, Sendable {
    func note(_ text: String)
    func fail() throws
  }

  private final class Label: Labelled {
    let notes = Mutex<[String]>([])
    func note(_ text: String) { notes.withLock { $0.append(text) } }
    func fail() throws { throw Refusal() }
  }

  @Suite("What the usual multicast delegate promises")
  struct UsualMulticastTests {
    private let labels = Multicast<LabelledProxy>()

    private var listed: [ObjectIdentifier] { labels.targets.map { ObjectIdentifier($0) } }

    @Test(
      "an object is added once however often, and removed by itself; the order is that of the adding"
    )
    func addAndRemove() {
      let (one, two) = (Label(), Label())
      #expect(listed.isEmpty)
      labels.add(one)
      #expect(listed == [ObjectIdentifier(one)])
      let token = labels.add(one)
      #expect(listed == [ObjectIdentifier(one)])
      labels.add(two)
      #expect(listed == [one, two].map { ObjectIdentifier($0) })
      #expect(labels.remove(one) == 1)
      #expect(!labels.remove(token))
      #expect(labels.remove(one) == 0)
      #expect(listed == [ObjectIdentifier(two)])
      labels.remove(two)
      #expect(labels.isEmpty)
    }

    @Test("containing compares identities, and visiting finds an object")
    func contains() {
      let (one, two) = (Label(), Label())
      labels.add(one)
      #expect(labels.contains(one))
      #expect(!labels.contains(two))
      var found = false
      labels.forEach { found = found || $0 === one }
      #expect(found)
      labels.remove(one)
      #expect(!labels.contains(one))
    }

    @Test("an object that inherits from another class is found as any other")
    func inherited() {
      class Base { init() {} }
      final class Derived: Base, Labelled, @unchecked Sendable {
        func note(_ text: String) {}
        func fail() throws {}
      }
      let (one, two) = (Derived(), Derived())
      labels.add(one)
      #expect(labels.contains(one))
      #expect(!labels.contains(two))
      #expect(labels.targets.contains { $0 === one })
      labels.remove(one)
      #expect(!labels.contains(one))
    }

    @Test("an object that nothing else retains is not a target any more")
    func weak() {
      do {
        let label = Label()
        labels.add(label)
        #expect(listed == [ObjectIdentifier(label)])
      }
      #expect(listed.isEmpty)
      #expect(labels.isEmpty)
    }

    @Test("a body that catches is called for all; an error that leaves it ends the visit")
    func errors() {
      let both = [Label(), Label()]
      defer { withExtendedLifetime(both) {} }
      for label in both { labels.add(label) }
      var caught = 0
      labels.forEach { label in
        do { try label.fail() } catch { caught += 1 }
      }
      #expect(caught == 2)
      var visited = 0
      #expect(throws: Refusal.self) {
        try labels.forEach { label in
          visited += 1
          try label.fail()
        }
      }
      #expect(visited == 1)
    }

    @Test("threads add while another visits and tells")
    func threads() {
      let objects = (0..<2000).map { _ in Label() }
      let labels = labels
      let group = DispatchGroup()
      for half in [0..<1000, 1000..<2000] {
        DispatchQueue.global().async(group: group) {
          for index in half { labels.add(objects[index]) }
        }
      }
      DispatchQueue.global().async(group: group) {
        var last = 0
        for _ in 0..<200 {
          var count = 0
          labels.forEach { _ in count += 1 }
          #expect(count >= last)
          last = count
          labels.face.note("told")
        }
      }
      group.wait()
      #expect(labels.count == 2000)
      labels.face.note("all")
      #expect(objects.allSatisfy { $0.notes.withLock { $0.last } == "all" })
    }
  }
#endif
