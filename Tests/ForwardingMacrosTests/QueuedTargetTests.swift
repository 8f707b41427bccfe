// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Invocations
  import Dispatch
  import ForwardingTestSupport
  import Testing

  @testable import Forwarding

  @Suite("A proxy's targets on a queue", .timeLimit(.minutes(60)))
  struct QueuedTargetTests: PostingTests {
    let story = Story()
    let queue = DispatchQueue(label: "office")

    @Test(
      "a target is called on its queue, after the blocks enqueued before",
      arguments: ProxyWay.allCases)
    func order(_ way: ProxyWay) {
      let targets = posting(way)
      let (office, mark) = (Office(story), QueueMark.of(queue))
      targets.add(unchecked: office, on: .queue(queue))
      office.does { [story] _ in story.tell("on the queue: \(mark.isCurrent)") }
      for _ in 0..<2 {
        queue.suspend()
        queue.async { [story] in story.tell("before") }
        targets.proxy.tell(1)
        queue.async { [story] in story.tell("between") }
        targets.proxy.tell(2)
        queue.async { [story] in story.tell("behind") }
        #expect(story.take() == [])
        queue.resume()
        let there = "on the queue: true"
        #expect(heard() == ["before", "told 1", there, "between", "told 2", there, "behind"])
      }
    }

    @Test("a target receives all values intact", arguments: postings.indices, ProxyWay.allCases)
    func values(_ row: Int, _ way: ProxyWay) {
      let targets = posting(way)
      targets.add(unchecked: Office(story), strongly: true, on: .queue(queue))
      targets.add(Rests(story), strongly: true)
      for _ in 0..<3 {
        queue.suspend()
        postings[row].send(targets.proxy)
        #expect(story.take() == [])
        queue.resume()
        #expect(heard() == [postings[row].told])
      }
    }

    @Test(
      "a target receives no memory that its sender lends",
      arguments: postedLoans.indices, ProxyWay.allCases)
    func borrowed(_ row: Int, _ way: ProxyWay) throws {
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
        postedLoans[row].send(targets.proxy)
        #expect(heard() == [])
        #expect(told.read { $0.count } == count)
      }
      for error in told.read({ $0 }) {
        guard case ForwardingError.borrowedArgument(_, 2, _) = error else {
          Issue.record(error)
          continue
        }
      }
    }

    @Test(
      "a removed or dead target is not called; the call retains none of its objects",
      arguments: ProxyWay.allCases)
    func gone(_ way: ProxyWay) throws {
      var targets: Multicast<PostingProxy>? = posting(way)
      let removed = Office(story)
      var dying: Office? = Office(story)
      let token = try #require(targets).add(unchecked: removed, on: .queue(queue))
      targets?.add(unchecked: try #require(dying), on: .queue(queue))
      targets?.proxy.tell(1)
      #expect(heard() == ["told 1", "told 1"])
      queue.suspend()
      targets?.proxy.tell(2)
      weak let weakly = dying
      dying = nil
      #expect(weakly == nil)
      let untyped = try #require(targets).untyped
      // The removal does not wait for calls that are on their way.
      #expect(ends { _ = try untyped.removeAndWait(token) })
      queue.resume()
      #expect(heard() == [])
      withExtendedLifetime(removed) {}
      targets = nil
    }

    @Test("a target is not called for a deallocated proxy", arguments: ProxyWay.allCases)
    func withoutProxy(_ way: ProxyWay) {
      let office = Office(story)
      weak var untyped: MulticastProxy?
      do {
        let targets = posting(way)
        untyped = targets.untyped
        targets.add(unchecked: office, strongly: true, on: .queue(queue))
        targets.proxy.tell(1)
        #expect(heard() == ["told 1"])
        queue.suspend()
        targets.proxy.tell(2)
      }
      #expect(untyped == nil)
      queue.resume()
      #expect(heard() == [])
    }

    @Test("the values are released after the call, and not before", arguments: ProxyWay.allCases)
    func keeping(_ way: ProxyWay) {
      let targets = posting(way)
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
        #expect(heard() == ["kept 1"])
        // The values of a block are released before the next block begins.
        queue.sync {}
        #expect(known == nil)
      }
    }

    @Test(
      "the error of a target is reported to its proxy, and not to its sender",
      arguments: ProxyWay.allCases)
    func errors(_ way: ProxyWay) throws {
      let targets = posting(way)
      targets.add(unchecked: Office(story), strongly: true, on: .queue(queue))
      try targets.proxy.fail(1)
      try targets.proxy.failPlainly(2)
      #expect(
        heard() == [
          "fails 1", "failed fail: Lame(name: \"1\")",
          "failed failPlainly: Lame(name: \"plain 2\")",
        ])
    }

    @Test("an omitted optional requirement is no error", arguments: ProxyWay.allCases)
    func optional(_ way: ProxyWay) throws {
      let targets = posting(way)
      let (one, other) = (Office(story), Rests(story))
      targets.add(unchecked: one, on: .queue(queue))
      for _ in 0..<2 {
        targets.proxy.rest(1)
        try targets.proxy.restOrFail(1)
        queue.sync {}
      }
      // Once the omission is known, nothing is enqueued.
      #expect(heard().suffix(2) == ["unanswered rest:", "unanswered restOrFail:"])
      // Without messages, another test may give the class its table, and the method, at any moment.
      if way == .messages { #expect(MethodTable.of(Office.self).own("rest:") == nil) }
      targets.add(unchecked: other, on: .queue(queue))
      targets.proxy.rest(2)
      try targets.proxy.restOrFail(2)
      try targets.proxy.restOrFail(-2)
      #expect(
        heard() == ["rests 2", "rests or fails 2", "failed restOrFail: Lame(name: \"rests\")"])
    }

    @Test(
      "a requirement with a result is called, and the other targets answer",
      arguments: ProxyWay.allCases)
    func questions(_ way: ProxyWay) throws {
      let targets = posting(way)
      targets.add(unchecked: Office(story), strongly: true, on: .queue(queue))
      #expect(targets.proxy.count(1) == -1)
      #expect(heard().contains("counts 1"))
      #expect(try targets.proxy.measure(-3) == -1)
      #expect(heard().contains("failed measure: Lame(name: \"-3\")"))
      let here = Office(story)
      targets.add(here)
      #expect(targets.proxy.count(2) == 2)
      #expect(heard() == ["counts 2", "counts 2"])
    }
  }
#endif
