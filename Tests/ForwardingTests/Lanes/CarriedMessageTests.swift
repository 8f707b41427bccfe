// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations
import Testing

@testable import Forwarding

@Suite("Messages to queues without a report")
struct CarriedMessageTests {
  /// An object that messages carry.
  final class Cargo: Sendable {}

  struct Letter: Sendable {
    let cargo: Cargo
    let text: String
    let numbers: (Int, Double)
  }

  struct Nothing: Sendable {}
  /// Ends inside a word.
  struct Odd: Sendable {
    var whole: Int64
    var rest: UInt8
  }

  /// A target that runs an action when it receives a message.
  final class Doer: MethodDeclaring, Sendable {
    let action: @Sendable (Int32) throws -> Void
    let log: Log

    init(_ log: Log, _ action: @escaping @Sendable (Int32) throws -> Void = { _ in }) {
      (self.log, self.action) = (log, action)
    }

    static func declareMethods(_ methods: MethodDeclarations) {
      methods.register("did:") { (self: Doer, value: Int32) in
        try self.action(value)
        self.log.add("\(value)")
      }
      methods.register("letter:at:flag:") {
        (self: Doer, letter: Letter, time: Double, flag: Bool) in
        self.log.add("\(letter.text) \(letter.numbers.0) \(letter.numbers.1) \(time) \(flag)")
      }
      methods.register("cargo:text:") { (self: Doer, cargo: Cargo?, text: String?) in
        self.log.add("\(cargo != nil) \(text ?? "none")")
      }
      methods.register("odd:after:") { (self: Doer, odd: Odd, _: Nothing) in
        self.log.add("\(odd.whole) \(odd.rest)")
      }
    }
  }

  static let letter = try! Message<Void, Letter, Double, Bool>("letter:at:flag:")
  static let cargo = try! Message<Void, Cargo?, String?>("cargo:text:")
  static let odd = try! Message<Void, Odd, Nothing>("odd:after:")

  let log = Log()
  let proxy = MulticastProxy()
  let queue = DispatchQueue(label: "carried")

  @Test("arguments arrive in registers of both kinds, behind addresses, and inside words")
  func values() throws {
    proxy.add(Doer(log), strongly: true, on: .queue(queue))
    // The first message finds the methods.
    for number in 0..<3 {
      let letter = Letter(cargo: Cargo(), text: "text \(number)", numbers: (number, 0.5))
      try Self.letter(letter, 1.25, number == 1, on: proxy)
      try Self.cargo(number == 1 ? nil : Cargo(), number == 2 ? nil : "t\(number)", on: proxy)
      try Self.odd(Odd(whole: Int64(number), rest: 2), Nothing(), on: proxy)
    }
    queue.sync {}
    #expect(
      log.all == [
        "text 0 0 0.5 1.25 false", "true t0", "0 2", "text 1 1 0.5 1.25 true", "false t1", "1 2",
        "text 2 2 0.5 1.25 false", "true none", "2 2",
      ])
  }

  @Test("the values of a message that is not delivered any more are released")
  func dropped() throws {
    proxy.add(Doer(log), strongly: true, on: .queue(queue))
    try Self.cargo(nil, nil, on: proxy)
    queue.sync {}
    weak var known: Cargo?
    queue.suspend()
    do {
      let cargo = Cargo()
      known = cargo
      try Self.cargo(cargo, "dropped", on: proxy)
    }
    #expect(known != nil)
    proxy.removeAll()
    queue.resume()
    queue.sync {}
    #expect(known == nil)
    #expect(log.all == ["false none"])
  }

  @Test("a message that its queue drops is cancelled, not lost, and its values are released")
  func lost() throws {
    proxy.add(Doer(log), strongly: true)
    let ticket = DeliveryTicket(of: "cargo:text:", to: proxy.snapshot[0], .nobody)
    weak var known: Cargo?
    do {
      let cargo = Cargo()
      known = cargo
      let call = QueuedCall(
        "cargo:text:", sending: try Self.cargo.invocation(cargo, "lost"), suspends: false)
      let parcel = Parcel(call, to: proxy.snapshot[0], .never, ticket)
      #expect(ticket.outcome == nil && ticket.wait(timeout: .now()) == nil)
      withExtendedLifetime(parcel) {}
    }
    #expect(known == nil)
    #expect(
      ticket.outcome?.error as? ForwardingError
        == .cancelled(.init(selector: "cargo:text:", target: Doer.self)))
  }

  @Test("changed options of a registration apply from the next message on")
  func wishes() throws {
    let (queue, log) = (queue, log)
    let doer = Doer(log) { _ in dispatchPrecondition(condition: .onQueue(queue)) }
    let token = proxy.add(doer, strongly: true, on: .queue(queue))
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
    proxy.suspend(token)
    try did(5, on: proxy)
    queue.sync {}
    #expect(log.count == 4)
  }
}
