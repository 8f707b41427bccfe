// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Foundation
import Invocations
import Testing
import TypeEncodings

/// Makes random changes to one invocation in each place where user code may run during a call:
/// bodies, forwarding steps, resolvers, handlers, and `deinit`.
private final class Storm: @unchecked Sendable {
  // SAFETY: used on one thread, in a separate process.
  static let shared = Storm()

  var generator = SeededGenerator(seed: 1)
  private(set) var call: Invocation?
  /// Whether the call has values of a Swift type in place of objects.
  private var isLoaded = false
  private var proxy = MulticastProxy()
  private var single = MulticastProxy(one: nil)
  private var source = MulticastProxy(asksOne: true)
  private var intercepting = InterceptingProxy(MulticastProxy())
  private let closures = ClosureTarget()
  private let functions = FunctionTable()
  private var handler: ForwardingToken?
  private var kept: [AnyObject] = []
  private var depth = 0
  /// The number of actions left, so that each round ends.
  private var budget = 0

  func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }

  func object() -> Piece {
    switch number(6) {
    case 0: Plain()
    case 1: Derived()
    case 2: Forwards()
    case 3: Holds()
    case 4: Native()
    default: Lends()
    }
  }

  private func anybody() -> AnyObject {
    switch number(8) {
    case 0: proxy
    case 1: single
    case 2: source
    case 3: intercepting
    case 4: closures
    default: object()
    }
  }

  func keep(_ object: AnyObject) {
    let old = kept
    kept = Array((kept + [object]).suffix(5))
    withExtendedLifetime(old) {}
  }

  /// Called wherever user code runs.
  func strike() {
    guard depth < 3, budget > 0 else { return }
    depth += 1
    budget -= 1
    for _ in 0..<number(3) { try? deed() }
    depth -= 1
  }

  private func setArgument(_ call: Invocation) throws {
    if isLoaded {
      try call.setArgument(Load(object()), at: 2)
    } else {
      try call.setArgument(AnyCallObject(object()), at: 2)
    }
  }

  func setResult(_ call: Invocation) throws {
    if call.selector == Load.message.selector {
      try call.setResult(Load(object()))
    } else {
      try call.setResult(AnyCallObject(object()))
    }
  }

  private func deed() throws {
    guard let call else { return }
    switch number(19) {
    case 0: try call.setTarget(anybody())
    case 1: try call.setTarget(nil)
    case 2: try setArgument(call)
    case 3: try call.setArgument(nil as AnyObject?, at: 2)
    case 4: try call.setArgument(String(repeating: "text", count: 10), at: 3)
    case 5: try setResult(call)
    case 6: try call.setResult(nil as AnyObject?)
    case 7: try call.invoke()
    case 8: try call.invoke(on: anybody())
    case 9: try call.invokeSuper(of: Derived.self)
    case 10:
      let copy = call.copy()
      keep(copy)
      if number(3) == 0 { try copy.invoke() }
    case 11: call.retainArguments(includingTarget: number(2) == 0)
    case 12:
      let report = try proxy.deliver(call)
      strike()
      for entry in report.entries { _ = try entry.answer?.resultObject() }
    case 13: try call.invoke(on: intercepting)
    case 14: change()
    case 15: try Load.message(Load(object()), "text that is lent", on: anybody()).check()
    case 16, 17: try replace()
    default: try look(call)
    }
  }

  /// Replaces something that has an object, whose `deinit` may use what had it.
  private func replace() throws {
    nonisolated(unsafe) let piece = object()
    let method = try Implementation(MethodSignature("@@:@*")) { _ in piece.check() }
    switch number(9) {
    case 0: try closures.register("go:with:", replacing: true, method)
    case 1: closures.unregister("go:with:")
    case 2: source.setFallback(number(2) == 0 ? piece : nil, strongly: true)
    case 3: proxy.onDiagnostic = { _ in piece.check() }
    case 4:
      handler?.remove()
      handler = intercepting.before { _ in piece.check() }
    case 5: MethodTable.of(Lends.self).replace("other:with:", method)
    case 6: try functions.register("f", replacing: true, method)
    case 7: proxy.onDiagnostic = nil
    default: functions.unregister("f")
    }
  }

  private func change() {
    if number(3) == 0 { proxy.removeAll() }
    let added = object()
    keep(added)
    proxy.add(added, strongly: number(2) == 0)
    single.add(object(), strongly: true)
  }

  private func look(_ call: Invocation) throws {
    _ = "\(call) \(call.arguments)"
    if isLoaded {
      try call.argument(at: 2, as: Load.self).check()
      return try call.result(as: Load.self).check()
    }
    (try call.resultObject() as? Piece)?.check()
    (try call.object(at: 2) as? Piece)?.check()
    (call.target as? Piece)?.check()
  }

  /// Releases all objects.
  func end() {
    let old = (proxy, single, source, intercepting, call, handler)
    closures.unregister("go:with:")
    functions.unregister("f")
    MethodTable.of(Lends.self).remove("other:with:")
    handler = nil
    proxy = MulticastProxy()
    single = MulticastProxy(one: nil)
    source = MulticastProxy(asksOne: true)
    intercepting = InterceptingProxy(MulticastProxy())
    call = nil
    withExtendedLifetime(old) {}
  }

  func round(_ seed: UInt64) throws {
    generator = SeededGenerator(seed: seed)
    let old = (proxy, single, intercepting, call)
    proxy = MulticastProxy()
    proxy.whenNobodyAnswers = .zero
    single = MulticastProxy(one: nil)
    intercepting = InterceptingProxy(proxy)
    intercepting.before { _ in Storm.shared.strike() }
    intercepting.after { _ in Storm.shared.strike() }
    isLoaded = number(2) == 0
    let call =
      try isLoaded
      ? Load.message.invocation(Load(object()), "")
      : Invocation(MethodSignature("@@:@*"), selector: "go:with:")
    self.call = call
    for _ in 0..<3 { change() }
    try setArgument(call)
    try call.setArgument("text that is long enough to be allocated", at: 3)
    budget = 40
    for _ in 0..<4 {
      switch number(3) {
      case 0: try? call.invoke(on: anybody())
      case 1:
        let target = anybody()
        try? call.setTarget(target)
        try? call.invoke()
      default: _ = try? proxy.deliver(call)
      }
    }
    budget = 0
    let last = (kept, self.call)
    kept = []
    self.call = nil
    withExtendedLifetime((old, last)) {}
  }
}

private class Piece: CallObject {
  // SAFETY: used on one thread.
  nonisolated(unsafe) static var alive = 0
  private let list = [1, 2, 3]
  private let number = 77

  init() { Self.alive += 1 }

  /// Ends the process if the memory is not that of a valid object.
  func check() { if list.count != 3 || number != 77 { fatalError("memory is corrupted") } }

  deinit {
    check()
    Storm.shared.strike()
    Self.alive -= 1
  }
}

/// A value of a Swift type, which acts when its last copy is released.
private struct Load {
  static let message = try! Message<Load, Load, String>("carry:with:")
  private let piece: Piece
  private let text = "text that is long enough to be allocated"

  init(_ piece: Piece) { self.piece = piece }

  func check() {
    piece.check()
    if text.count != 40 { fatalError("memory is corrupted") }
  }
}

private class Plain: Piece {}
private final class Derived: Plain {}
private final class Lends: Piece {}
/// Its method is a C function.
private final class Native: Piece {}

private let native:
  @convention(c) (
    UnsafeRawPointer, UnsafeRawPointer, UnsafeRawPointer?, UnsafePointer<CChar>?
  ) -> UnsafeRawPointer? = { receiver, _, object, text in
    let before = text.map { String(cString: $0) }
    Storm.shared.strike()
    for case let address? in [receiver, object] {
      Unmanaged<Piece>.fromOpaque(address).takeUnretainedValue().check()
    }
    if text.map({ String(cString: $0) }) != before { fatalError("the text is gone") }
    return object
  }

private class Forwards: Piece, MessageForwarding {
  private func struck<Answer>(_ answer: @autoclosure () -> Answer) -> Answer {
    check()
    Storm.shared.strike()
    check()
    return answer()
  }

  static func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool {
    Storm.shared.strike()
    return false
  }

  func forwardingTarget(for selector: Selector) -> AnyObject? {
    struck(Storm.shared.number(4) == 0 ? Storm.shared.object() : nil)
  }

  func methodSignature(for selector: Selector) -> MethodSignature? {
    struck(
      selector == Load.message.selector
        ? Load.message.signature : try? MethodSignature("@@:@*"))
  }

  func responds(to selector: Selector) -> Bool { struck(true) }

  func forward(_ invocation: Invocation) throws {
    let storm = Storm.shared
    struck(())
    if storm.number(3) == 0 { try storm.setResult(invocation) }
    if storm.number(3) == 0 { try invocation.setTarget(storm.object()) }
    if storm.number(3) == 0 { storm.keep(invocation) }
    if storm.number(5) == 0 { throw Failure(name: "storm") }
    check()
  }
}

private final class Holds: Forwards, MethodProviding, MethodDeclaring {
  static func declareMethods(_ methods: MethodDeclarations) { Storm.shared.strike() }

  func ownMethod(for selector: Selector) -> Implementation? {
    check()
    Storm.shared.strike()
    check()
    guard Storm.shared.number(2) == 0 else { return nil }
    return selector == Load.message.selector ? ReentryTests.loaded : ReentryTests.typed
  }
}

@Suite("Random actions during random calls")
struct ReentryTests {
  fileprivate static let typed = try? Implementation(
    method: { (piece: Piece, other: AnyCallObject?, _: String?) throws -> AnyCallObject? in
      piece.check()
      Storm.shared.strike()
      piece.check()
      (other?.object as? Piece)?.check()
      if Storm.shared.number(6) == 0 { throw Failure(name: "storm") }
      return Storm.shared.number(2) == 0 ? other : AnyCallObject(Storm.shared.object())
    })

  fileprivate static let loaded = try? Implementation(
    method: { (piece: Piece, load: Load, _: String) throws -> Load in
      piece.check()
      Storm.shared.strike()
      piece.check()
      load.check()
      if Storm.shared.number(6) == 0 { throw Failure(name: "storm") }
      return Storm.shared.number(2) == 0 ? load : Load(Storm.shared.object())
    })

  /// A body that reads the call itself, and may retain it.
  private static func lent() throws -> Implementation {
    try Implementation(MethodSignature("@@:@*")) { call in
      (call.target as? Piece)?.check()
      Storm.shared.strike()
      (call.target as? Piece)?.check()
      (try call.object(at: 2) as? Piece)?.check()
      _ = try? call.argument(at: 3, as: String.self)
      if Storm.shared.number(4) == 0 { Storm.shared.keep(call) }
      try call.setResult(AnyCallObject(Storm.shared.object()))
    }
  }

  private static func storm(_ rounds: Int) throws {
    ForwardingEvent.destination = .nowhere
    guard let typed, let loaded else { exit(EXIT_FAILURE) }
    try MethodTable.of(Plain.self).register("carry:with:", loaded)
    try MethodTable.of(Lends.self).register("carry:with:", loaded)
    try MethodTable.of(Plain.self).register("go:with:", typed)
    try MethodTable.of(Lends.self).register("go:with:", lent())
    try unsafe MethodTable.of(Native.self).register(
      "go:with:", encoding: "@@:@*",
      unsafeFunction: unsafeBitCast(native, to: UnsafeRawPointer.self))
    // A lock that is held while an object is released would stop it.
    alarm(1800)
    for seed in 0..<UInt64(rounds) { try Storm.shared.round(seed) }
    Storm.shared.end()
    if Piece.alive != 0 { fatalError("\(Piece.alive) objects are left") }
  }

  @Test("random actions during calls corrupt no object")
  func storms() async {
    await #expect(processExitsWith: .success) {
      // A round is a small part of what a history is elsewhere.
      try Self.storm(10 * setting("FORWARDING_HISTORIES", 100))
    }
  }
}
