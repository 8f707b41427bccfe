// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingTestSupport
import Invocations
import Testing

@testable import Forwarding

/// An object that answers with values of three kinds, or fails.
private class Source: @unchecked Sendable {
  let number: Int
  var act: (() -> Void)?
  init(_ number: Int) { self.number = number }

  func value<Value>(_ value: Value) throws -> Value {
    act?()
    if number % 5 == 4 { throw Failure(name: "\(number)") }
    return value
  }
}

/// A class of its own, so that a list has runs of several.
private final class OtherSource: Source, @unchecked Sendable {}

/// A target that passes messages on.
private final class Relay: MessageForwarding, @unchecked Sendable {
  let source: Source
  init(_ source: Source) { self.source = source }
  func forwardingTarget(for selector: Selector) -> AnyObject? { source }
}

private struct Wide: Equatable {
  var text: String
  var numbers: [Int]
}

@Suite("A message that asks all targets")
struct AskingTests {
  private static let number = try! Message<Int, Int>("askNumber:")
  private static let text = try! Message<String, Int>("askText:")
  private static let wide = try! Message<Wide, Int>("askWide:")

  /// Once for all tests, which run in parallel.
  private static let registered: Result<Void, any Error> = Result {
    let table = MethodTable.of(Source.self)
    try table.register("askNumber:") { (source: Source, add: Int) in
      try source.value(source.number + add)
    }
    try table.register("askText:") { (source: Source, add: Int) in
      try source.value("a text that is kept elsewhere: \(source.number + add)")
    }
    try table.register("askWide:") { (source: Source, add: Int) in
      try source.value(Wide(text: "wide \(source.number)", numbers: [add]))
    }
  }

  init() throws { try Self.registered.get() }

  /// What a sender and a listener get.
  private struct Told: Equatable {
    var answers = ""
    var diagnostics: [String] = []
  }

  /// Adds targets of random kinds, the same for a seed.
  private static func targets(_ seed: UInt64, _ kept: inout [AnyObject]) -> MulticastProxy {
    var random = SeededGenerator(seed: seed)
    let proxy = MulticastProxy()
    for number in 0..<Int.random(in: 0...7, using: &random) {
      let source =
        Bool.random(using: &random)
        ? Source(number) : OtherSource(Int.random(in: 0..<9, using: &random))
      switch Int.random(in: 0..<9, using: &random) {
      case 0: proxy.add(Relay(source), strongly: true)
      case 1: proxy.add(source)  // dead
      case 2: proxy.suspend(proxy.add(source, strongly: true))
      case 3: proxy.add(source, strongly: true, on: .blocking(DispatchQueue(label: "ask")))
      case 4: proxy.add(source, strongly: true, once: true)
      case 5: proxy.add(NSNothing(), strongly: true)
      case 6:
        let token = proxy.add(source, strongly: true)
        source.act = { [weak proxy] in proxy?.remove(token) }
      default:
        kept.append(source)
        proxy.add(source)
      }
    }
    return proxy
  }

  private final class NSNothing {}

  private static func told(
    _ proxy: MulticastProxy, _ ask: (MulticastProxy) throws -> Any
  ) -> Told {
    let log = Log()
    proxy.onDiagnostic = { diagnostic in
      switch diagnostic {
      case .failed(_, let selector, let error): log.add("\(selector) \(error)")
      case .deadTarget, .diedUnreached: log.add("dead")
      default: log.add(caseName(diagnostic))
      }
    }
    var told = Told()
    do { told.answers = "\(try ask(proxy))" } catch { told.answers = "error: \(error)" }
    told.diagnostics = log.all
    return told
  }

  private static func compare<Answer>(_ message: Message<Answer, Int>, _ seed: UInt64) {
    var kept: [AnyObject] = []
    func check(
      _ one: (MulticastProxy) throws -> Any, _ other: (MulticastProxy) throws -> Any,
      _ line: Int = #line
    ) {
      let quick = told(targets(seed, &kept), one)
      let recorded = told(targets(seed, &kept), other)
      #expect(quick == recorded, "\(message.selector), seed \(seed), line \(line)")
    }
    check {
      try message.all(1, on: $0)
    } _: {
      try $0.answers(to: message.invocation(1), as: Answer.self)
    }
    withExtendedLifetime(kept) {}
  }

  @Test("gets the answers and errors that an invocation gets, whatever the targets are")
  func likeInvocations() {
    for seed in 1...300 as ClosedRange<UInt64> {
      Self.compare(Self.number, seed)
      Self.compare(Self.text, seed)
      Self.compare(Self.wide, seed)
    }
  }

  @Test("is refused where it comes back to the proxy that asks")
  func circle() throws {
    let proxy = MulticastProxy()
    let source = Source(1)
    proxy.add(source)
    proxy.add(proxy)
    #expect(throws: InvocationError.self) { try Self.number.all(1, on: proxy) }
  }

  @Test("may be asked from inside of an answer, a hundred times deep")
  func nested() throws {
    let proxies = (0..<100).map { _ in MulticastProxy() }
    var kept: [Source] = []
    for (index, proxy) in proxies.enumerated() {
      let source = Source(index * 5)
      let next = index + 1 < proxies.count ? proxies[index + 1] : nil
      source.act = { if let next { #expect((try? Self.text.all(1, on: next))?.count == 1) } }
      kept.append(source)
      proxy.add(source)
    }
    #expect(try Self.text.all(1, on: proxies[0]).count == 1)
    withExtendedLifetime(kept) {}
  }
}
