// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingTestSupport
import Foundation
import Testing

@testable import Forwarding
@testable import Invocations

@Suite("Messages to queues without a report")
struct CarriedMessageTests {
  /// An object that messages carry.
  final class Parcel: Sendable {}

  struct Letter: Sendable {
    let parcel: Parcel
    let text: String
    let numbers: (Int, Double)
  }

  /// A target that runs an action when it receives a message.
  final class Doer: MethodDeclaring, Sendable {
    let action: @Sendable (Int32) throws -> Void
    let log: Log

    init(_ log: Log, _ action: @escaping @Sendable (Int32) throws -> Void = { _ in }) {
      self.log = log
      self.action = action
    }

    static func declareMethods(_ methods: MethodDeclarations) {
      methods.register("did:") { (self: Doer, value: Int32) in
        try self.action(value)
        self.log.add("\(value)")
      }
      methods.register("double:") { (self: Doer, value: Int32) in
        try self.action(value)
        return 2 * value
      }
      methods.register("letter:at:flag:") {
        (self: Doer, letter: Letter, time: Double, flag: Bool) in
        self.log.add("\(letter.text) \(letter.numbers.0) \(letter.numbers.1) \(time) \(flag)")
      }
      methods.register("parcel:text:") { (self: Doer, parcel: Parcel?, text: String?) in
        self.log.add("\(parcel != nil) \(text ?? "none")")
      }
    }
  }

  static let double = try! Message<Int32, Int32>("double:")
  static let letter = try! Message<Void, Letter, Double, Bool>("letter:at:flag:")
  static let parcel = try! Message<Void, Parcel?, String?>("parcel:text:")

  let log = Log()
  let queue = DispatchQueue(label: "carried")

  @Test("arguments arrive in registers of both kinds and behind addresses")
  func values() throws {
    let proxy = MulticastProxy()
    let doer = Doer(log)
    proxy.add(doer, strongly: true, on: .queue(queue))
    // The first message finds the methods.
    for number in 0..<3 {
      let letter = Letter(parcel: Parcel(), text: "text \(number)", numbers: (number, 0.5))
      try Self.letter(letter, 1.25, number == 1, on: proxy)
      try Self.parcel(number == 1 ? nil : Parcel(), number == 2 ? nil : "t\(number)", on: proxy)
    }
    queue.sync {}
    #expect(
      log.all == [
        "text 0 0 0.5 1.25 false", "true t0", "text 1 1 0.5 1.25 true", "false t1",
        "text 2 2 0.5 1.25 false", "true none",
      ])
  }

  @Test("values that end inside a word, or take no memory, arrive")
  func oddSizes() throws {
    struct Nothing: Sendable {}
    struct Odd: Sendable, Equatable {
      var whole: Int64
      var rest: UInt8
    }
    let target = ClosureTarget()
    let log = log
    try target.register("odd:after:") { (odd: Odd, _: Nothing) in
      log.add("\(odd.whole) \(odd.rest)")
    }
    try MethodTable.of(Doer.self).register("odd:after:", replacing: true) {
      (self: Doer, odd: Odd, _: Nothing) in self.log.add("\(odd.whole) \(odd.rest)")
    }
    let proxy = MulticastProxy()
    let doer = Doer(log)
    for target in [doer, target] as [AnyObject] {
      proxy.add(target, strongly: true, on: .queue(queue))
    }
    let message = try Message<Void, Odd, Nothing>("odd:after:")
    for _ in 0..<3 { try message(Odd(whole: 1, rest: 2), Nothing(), on: proxy) }
    queue.sync {}
    #expect(log.all == Array(repeating: "1 2", count: 6))
  }

  @Test("the values of a message are released if its queue drops it")
  func dropped() throws {
    let proxy = MulticastProxy()
    let doer = Doer(log)
    proxy.add(doer, strongly: true, on: .queue(queue))
    try Self.parcel(nil, nil, on: proxy)
    queue.sync {}
    weak var known: Parcel?
    do {
      let parcel = Parcel()
      known = parcel
      let call = QueuedCall(
        "parcel:text:", sending: try Self.parcel.invocation(parcel, "dropped"), suspends: false)
      _ = Forwarding.Parcel(call, to: proxy.snapshot[0])
    }
    #expect(known == nil)
    #expect(log.all == ["false none"])
  }

  @Test("changed options of a registration apply from the next message on")
  func wishes() throws {
    let proxy = MulticastProxy()
    let (queue, log) = (queue, log)
    let places = Log()
    let doer = Doer(log) { _ in
      places.add("\(BlockingChain.isInside)")
    }
    proxy.add(doer, strongly: true, on: .queue(queue))
    try did(1, on: proxy)
    queue.suspend()
    try did(2, on: proxy)
    #expect(log.count <= 1)
    queue.resume()
    proxy.add(doer, on: .blocking(queue))
    try did(3, on: proxy)
    #expect(log.all == ["1", "2", "3"])
    proxy.add(doer, on: .blocking(queue, deadline: .seconds(60)))
    try did(4, on: proxy)
    #expect(log.count == 4)
    #expect(places.all == ["true", "true", "true", "true"])
    proxy.suspend(proxy.token(of: try #require(proxy.snapshot.first)))
    try did(5, on: proxy)
    queue.sync {}
    #expect(log.count == 4)
  }

  @Test("a blocking lane returns the answer or the error")
  func blocking() throws {
    let proxy = MulticastProxy()
    let doer = Doer(log) { value in if value == 3 { throw Failure(name: "three") } }
    let token = proxy.add(doer, on: .blocking(queue))
    for value in 1...2 { #expect(try Self.double(Int32(value), on: proxy) == 2 * Int32(value)) }
    #expect(throws: Failure(name: "three")) { try Self.double(3, on: proxy) }
    #expect(try Self.double(4, on: proxy) == 8)
    proxy.suspend(token)
    #expect(throws: ForwardingError.nobodyAnswered("double:")) { try Self.double(5, on: proxy) }
  }
}
