// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Dispatch
  import ForwardingTestSupport
  import Testing

  @testable import Forwarding

  @Suite("A face's targets on a queue", .timeLimit(.minutes(60)))
  struct QueuedTargetTests: PostingTests {
    let story = Story()
    let queue = DispatchQueue(label: "office")

    @Test(
      "a target is called on its queue, after the blocks enqueued before",
      arguments: FaceWay.allCases)
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

    @Test("a target receives all values intact", arguments: postings.indices, FaceWay.allCases)
    func values(_ row: Int, _ way: FaceWay) {
      let targets = posting(way)
      targets.add(unchecked: Office(story), strongly: true, on: .queue(queue))
      targets.add(Rests(story), strongly: true)
      for _ in 0..<3 {
        queue.suspend()
        postings[row].send(targets.face)
        #expect(story.take() == [])
        queue.resume()
        #expect(heard() == [postings[row].told])
      }
    }

    @Test(
      "a target receives no memory that its sender lends",
      arguments: postedLoans.indices, FaceWay.allCases)
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
        postedLoans[row].send(targets.face)
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
      // The removal does not wait for calls that are on their way.
      #expect(ends { _ = try proxy.removeAndWait(token) })
      queue.resume()
      #expect(heard() == [])
      withExtendedLifetime(removed) {}
      targets = nil
    }

    @Test("a target is not called for a deallocated proxy", arguments: FaceWay.allCases)
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

    @Test("the values are released after the call, and not before", arguments: FaceWay.allCases)
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
        // The values of a block are released before the next block begins.
        queue.sync {}
        #expect(known == nil)
      }
    }

    @Test(
      "the error of a target is reported to its proxy, and not to its sender",
      arguments: FaceWay.allCases)
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

    @Test("an omitted optional requirement is no error", arguments: FaceWay.allCases)
    func optional(_ way: FaceWay) throws {
      let targets = posting(way)
      let (one, other) = (Office(story), Rests(story))
      targets.add(unchecked: one, on: .queue(queue))
      for _ in 0..<2 {
        targets.face.rest(1)
        try targets.face.restOrFail(1)
        queue.sync {}
      }
      // Once the omission is known, nothing is enqueued.
      #expect(heard().suffix(2) == ["unanswered rest:", "unanswered restOrFail:"])
      #expect(MethodTable.of(Office.self).own("rest:") == nil)
      targets.add(unchecked: other, on: .queue(queue))
      targets.face.rest(2)
      try targets.face.restOrFail(2)
      try targets.face.restOrFail(-2)
      #expect(
        heard() == ["rests 2", "rests or fails 2", "failed restOrFail: Lame(name: \"rests\")"])
    }

    @Test(
      "a requirement with a result is called, and the other targets answer",
      arguments: FaceWay.allCases)
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
  }
#endif
