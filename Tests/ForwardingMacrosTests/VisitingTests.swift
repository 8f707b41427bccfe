// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import Forwarding
  import Testing

  @Suite("Visiting the targets of a multicast")
  struct VisitingTests {
    private let story = Story()

    @Test("a target on a queue is not visited", arguments: ProxyWay.allCases)
    func leftOut(_ way: ProxyWay) {
      let (targets, queue) = (story.hearing(way), DispatchQueue(label: "visits"))
      targets.add(unchecked: Ear(1, story), strongly: true, on: .queue(queue))
      targets.add(unchecked: Ear(2, story), strongly: true, on: .blocking(queue))
      story.ear(3, in: targets)
      #expect(targets.map { $0.total(1) } == [3])
    }

    @Test("an error of the body ends the visit")
    func errors() {
      let targets = story.hearing()
      for number in 1...2 { story.ear(number, in: targets) }
      var visits = 0
      #expect(throws: Lame(name: "visitor")) {
        try targets.forEach { _ in
          visits += 1
          throw Lame(name: "visitor")
        }
      }
      #expect(visits == 1)
    }

    @Test("a visit may end early, and give what it found", arguments: ProxyWay.allCases)
    func ends(_ way: ProxyWay) {
      let targets = story.hearing(way)
      for number in 1...2 { story.ear(number, in: targets) }
      targets.add(Ear(3, story), strongly: true, once: true)
      #expect(targets.first { $0.total(1) == 2 }?.total(1) == 2)
      #expect(!targets.allSatisfy { $0.total(1) == 1 })
      #expect(targets.count == 3)
      #expect(targets.map { $0.total(1) } == [1, 2, 3])
    }
  }
#endif
