// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import Invocations
import Testing

/// A proxy with targets, and what a sender gets from it in each way of asking.
private struct Asked: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let make: @Sendable () -> MulticastProxy
  /// What a message with a result returns or throws; all answers; and the first.
  let value, all, first: String
  /// What a message without a result does.
  let tells: String
  /// The errors that the listener is told of when the message with a result is sent.
  let told: [String]
  /// The errors in a report of the message without a result.
  let reported: [String]

  init(
    _ promise: String, value: String, all: String, first: String, tells: String = "sent",
    told: [String] = [], reported: [String] = [],
    _ make: @escaping @Sendable () -> MulticastProxy
  ) {
    (testDescription, self.make, self.told, self.reported) = (promise, make, told, reported)
    (self.value, self.all, self.first, self.tells) = (value, all, first, tells)
  }
}

/// Answers its number. One that fails throws its own name.
private final class Answering: MethodDeclaring, Sendable {
  let number: Int32
  let fails: Bool
  init(_ number: Int32, fails: Bool = false) { (self.number, self.fails) = (number, fails) }

  private func answer() throws -> Int32 {
    if fails { throw Failure(name: "\(number)") }
    return number
  }

  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("value") { (self: Answering) throws in try self.answer() }
    methods.register("did:") { (self: Answering, _: Int32) throws -> Void in
      _ = try self.answer()
    }
  }
}

/// A proxy with strong targets: a negative number fails.
private func many(
  _ numbers: [Int32], in proxy: MulticastProxy = MulticastProxy()
) -> MulticastProxy {
  for number in numbers { proxy.add(Answering(abs(number), fails: number < 0), strongly: true) }
  return proxy
}

private func failure(_ number: Int) -> String { "\(Failure(name: "\(number)"))" }
private let nobody = "\(ForwardingError.nobodyAnswered("value"))"
private let otherTypes = InvocationError.signatureMismatch(
  name: "value", expected: try! Message<Double>("value").signature, given: Messages.value.signature)
private let gone = "\(ForwardingError.targetGone("value"))"

private let table: [Asked] = [
  Asked(
    "no target, and always an error by choice", value: nobody, all: "[]", first: "none",
    tells: "\(ForwardingError.nobodyAnswered("did:"))"
  ) {
    let proxy = MulticastProxy()
    proxy.whenNobodyAnswers = .throw
    return proxy
  },
  Asked("targets without the method", value: nobody, all: "[]", first: "none") {
    let proxy = MulticastProxy()
    for _ in 0..<2 { proxy.add(ClosureTarget(), strongly: true) }
    return proxy
  },
  Asked(
    "the first error, when all were called; the listener gets the others", value: failure(1),
    all: failure(1), first: failure(1), tells: failure(1), told: [failure(2)],
    reported: [failure(1), failure(2)]
  ) { many([-1, -2, 3]) },
  Asked(
    "the first error ends it by choice", value: failure(2), all: failure(2), first: "1",
    tells: failure(2), reported: [failure(2)]
  ) {
    let proxy = many([1, -2, -3])
    proxy.errorRule = .atOnce
    return proxy
  },
  Asked("a target of other types", value: "\(otherTypes)", all: "\(otherTypes)", first: "1") {
    let (proxy, other) = (many([1]), ClosureTarget())
    try? other.register("value") { 2.5 }
    proxy.add(other, strongly: true)
    return many([3], in: proxy)
  },
  Asked("a data source without targets", value: nobody, all: "[]", first: "none") {
    MulticastProxy(asksOne: true)
  },
  Asked("a data source with a fallback alone", value: "3", all: "[3]", first: "3") {
    let source = MulticastProxy(asksOne: true)
    source.setFallback(Answering(3), strongly: true)
    return source
  },
  Asked("a data source asks its fallback last", value: "4", all: "[4, 3]", first: "4") {
    let source = many([4], in: MulticastProxy(asksOne: true))
    source.setFallback(Answering(3), strongly: true)
    return source
  },
  Asked("a data source whose fallback was taken away", value: "4", all: "[4]", first: "4") {
    let source = many([4], in: MulticastProxy(asksOne: true))
    source.setFallback(Answering(3), strongly: true)
    source.fallback = nil
    return source
  },
  Asked("a proxy for one whose target is replaced", value: "5", all: "[5]", first: "5") {
    many([4, 5], in: MulticastProxy(one: nil))
  },
  Asked(
    "a proxy for one whose target has died", value: gone, all: "[]", first: "none",
    tells: "\(ForwardingError.targetGone("did:"))"
  ) { MulticastProxy(one: Answering(4)) },
  Asked(
    "a proxy for one whose target has died, and zero by choice", value: "0", all: "[]",
    first: "none"
  ) {
    let proxy = MulticastProxy(one: Answering(4))
    proxy.whenNobodyAnswers = .zero
    return proxy
  },
]

@Suite("What the sender gets")
struct SenderTests {
  private func text(_ send: () throws -> Any?) -> String {
    do { return try send().map { "\($0)" } ?? "none" } catch { return "\(error)" }
  }

  private func text(awaiting send: () async throws -> Any?) async -> String {
    do { return try await send().map { "\($0)" } ?? "none" } catch { return "\(error)" }
  }

  @Test("a proxy answers", arguments: table)
  fileprivate func answers(_ row: Asked) async {
    let value = Messages.value
    let told = Log()
    func listened() -> MulticastProxy {
      let proxy = row.make()
      told.clear()
      proxy.onDiagnostic = { if case .failed(_, _, let error) = $0 { told.add("\(error)") } }
      return proxy
    }
    #expect(text { try value(on: listened()) } == row.value)
    #expect(told.all == row.told)
    #expect(text { try value.all(on: listened()) } == row.all)
    #expect(told.all == row.told)
    #expect(
      text { try listened().answers(to: value.invocation(), as: Int32.self) } == row.all)
    #expect(told.all == row.told)
    #expect(text { try value.first(on: listened()) } == row.first)
    #expect(
      text {
        try did(1, on: listened()); return "sent"
      } == row.tells)
    #expect(told.all == row.told)
    for concurrently in [false, true] {
      #expect(
        await text(awaiting: { try await value(on: listened(), concurrently: concurrently) })
          == row.value)
      // An error ends nothing where all are called at once.
      if !concurrently { #expect(told.all == row.told) }
      #expect(
        await text(awaiting: { try await value.all(on: listened(), concurrently: concurrently) })
          == row.all)
    }
    #expect(
      await text(awaiting: { try await value.first(on: listened(), concurrently: false) })
        == row.first)
    #expect(
      await text(awaiting: {
        try await did(1, on: listened(), concurrently: false)
        return "sent"
      }) == row.tells)
    // A report has all errors, and the listener none.
    let errors = try? did.report(1, on: listened()).errors.map { "\($0)" }
    #expect(errors ?? ["thrown"] == row.reported)
    #expect(told.all == [])
  }

  @Test("nothing that no target answered leaves an older result")
  func olderResult() throws {
    let call = try Messages.value.invocation()
    try call.setResult(Int32(7))
    _ = try MulticastProxy().deliver(call)
    #expect(throws: InvocationError.resultNotAvailable) { try call.result(as: Int32.self) }
  }

  @Test("a message without a result has an answer of each target that it reached")
  func nothing() throws {
    let (proxy, log) = (MulticastProxy(), Log())
    for name in ["x", "y"] { proxy.add(Listener(name, log), strongly: true) }
    #expect(try did.all(7, on: proxy).count == 2)
    #expect(try did.first(8, on: proxy) != nil)
    // The first answer ends the delivery.
    #expect(log.all == ["x 7", "y 7", "x 8"])
  }

  @Test("if an answer has another type, the listener receives the errors before it")
  func otherType() throws {
    let (proxy, told) = (many([-1, -2, 3]), Log())
    proxy.onDiagnostic = { if case .failed(_, _, let error) = $0 { told.add("\(error)") } }
    #expect(throws: InvocationError.self) {
      try proxy.answers(to: did.invocation(1), as: String.self)
    }
    #expect(told.all == [failure(1), failure(2)])
  }

  @Test("a report says of each target whether it threw, came late, has other types, or answered")
  func mixed() throws {
    let (queue, gate) = (DispatchQueue(label: "slow"), DispatchSemaphore(value: 0))
    let (slow, other) = (ClosureTarget(), ClosureTarget())
    try slow.register("did:") { (_: Int32) in gate.wait() }
    try other.register("did:") { (_: Double) in }
    let proxy = many([-1])
    proxy.add(slow, strongly: true, on: .blocking(queue, deadline: .milliseconds(30)))
    proxy.add(other, strongly: true)
    let report = try did.report(1, on: many([4], in: proxy))
    gate.signal()
    queue.sync {}
    let late = ForwardingError.timedOut(
      .init(selector: "did:", target: ClosureTarget.self, queue: "slow"))
    let outcomes = report.entries.map { String("\($0.outcome)".prefix { $0 != "(" }) }
    #expect(outcomes == ["failed", "failed", "failed", "answered"])
    #expect(report.errors[0] as? Failure == Failure(name: "1"))
    #expect(report.errors[1] as? ForwardingError == late)
    #expect(report.errors[2] is InvocationError)
    #expect(report.entries[1].ticket?.outcome?.error as? ForwardingError == late)
  }

  @Test("later targets see the changes of earlier ones to memory behind a pointer")
  func sharedMemory() throws {
    let adder = ClosureTarget()
    try adder.register("addTo:") { (number: UnsafeMutablePointer<Int32>) in
      number.pointee = number.pointee * 10 + 1
    }
    let proxy = MulticastProxy()
    proxy.duplicateRule = .allow
    for _ in 0..<3 { proxy.add(adder) }
    var number: Int32 = 0
    try withUnsafeMutablePointer(to: &number) { pointer in
      _ = try Message<NoResult, UnsafeMutablePointer<Int32>>("addTo:")(pointer, on: proxy)
    }
    #expect(number == 111)
  }
}
