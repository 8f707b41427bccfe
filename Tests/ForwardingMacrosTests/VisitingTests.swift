// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import Forwarding
  import Testing

  @Suite("Visiting the targets of a multicast")
  struct VisitingTests {
    private let story = Story()

    @Test(
      "targets on a queue are not visited, and a visit that ends early uses no later one up",
      arguments: ProxyWay.allCases)
    func visits(_ way: ProxyWay) {
      let (targets, queue) = (story.hearing(way), DispatchQueue(label: "visits"))
      targets.add(unchecked: Ear(4, story), strongly: true, on: .queue(queue))
      targets.add(unchecked: Ear(5, story), strongly: true, on: .blocking(queue))
      for number in 1...2 { story.ear(number, in: targets) }
      targets.add(Ear(3, story), strongly: true, once: true)
      #expect(targets.first { $0.total(1) == 2 }?.total(1) == 2)
      #expect(!targets.allSatisfy { $0.total(1) == 1 })
      var visits = 0
      #expect(throws: Lame(name: "visitor")) {
        try targets.forEach { _ in
          visits += 1
          throw Lame(name: "visitor")
        }
      }
      #expect(visits == 1)
      #expect(targets.count == 5)
      #expect(targets.map { $0.total(1) } == [1, 2, 3])
    }
  }
#endif
