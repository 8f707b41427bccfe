import ForwardingTestSupport
import Foundation
import Synchronization
import Testing

@testable import Forwarding
@testable import Invocations

// What dies while a call is under way may have a `deinit` that knows the invocation, and does with it
// what it likes. Each test is a process of its own: where one of these fails, memory is corrupted.

/// Does something with an invocation when it dies.
private final class Mischief: CallObject {
  let call: Invocation
  let deed: (Invocation) -> Void

  init(_ call: Invocation, _ deed: @escaping (Invocation) -> Void) {
    self.call = call
    self.deed = deed
  }

  deinit { deed(call) }
}

private class Sound: CallObject {
  let list = [1, 2, 3]
  var isSound: Bool { list.count == 3 }
  init() {}
}

private final class Other {
  var words = (0x4141_4141_4141_4141, 0x4242_4242_4242_4242, 0x4343_4343_4343_4343)
}

/// Forwards by hand, with a body that the test gives.
private class Forwarder: Sound, MessageForwarding {
  var body: (Invocation) throws -> Void = { _ in }
  func responds(to selector: Selector) -> Bool { true }
  func methodSignature(for selector: Selector) -> MethodSignature? { try? MethodSignature("@@:") }
  func forward(_ invocation: Invocation) throws {
    guard isSound else { exit(EXIT_FAILURE) }
    try body(invocation)
  }
}

private final class DerivedForwarder: Forwarder {}

private final class Dropping: Sound, @unchecked Sendable {
  let call: Invocation
  init(_ call: Invocation) { self.call = call }
}

private final class Declaring: Forwarder, MethodDeclaring {
  nonisolated(unsafe) static var call: Invocation?
  static func declareMethods(_ methods: MethodDeclarations) { try? call?.setTarget(Other()) }
}

@Suite("What dies in the middle of a call cannot turn it to another object")
struct ReentrantReleaseTests {
  private static func call() throws -> Invocation {
    try Invocation(MethodSignature("@@:"), selector: "go")
  }

  private static func setsTarget(_ call: Invocation) { try? call.setTarget(Other()) }

  @Test("an older result, before an object forwards")
  func resultBeforeForwarding() async {
    await #expect(processExitsWith: .success) {
      let call = try Self.call()
      let forwarder = Forwarder()
      forwarder.body = { try $0.setResult(Mischief(call, Self.setsTarget)) }
      for _ in 0..<3 { try call.invoke(on: forwarder) }
      #expect(forwarder.isSound)
    }
  }

  @Test("an older result, set in front of an interceptor or before super is called")
  func resultOnTheWay() async {
    await #expect(processExitsWith: .success) {
      let call = try Self.call()
      let forwarder = DerivedForwarder()
      let proxy = InterceptingProxy(forwarder)
      proxy.before { try $0.setResult(Mischief($0, Self.setsTarget)) }
      try call.invoke(on: proxy)
      try call.setTarget(forwarder)
      try call.setResult(Mischief(call, Self.setsTarget))
      try call.invokeSuper(of: DerivedForwarder.self)
      guard forwarder.isSound else { exit(EXIT_FAILURE) }
    }
  }

  @Test("an older result, before a method that drops the target it was given")
  func resultBeforeMethod() async {
    await #expect(processExitsWith: .success) {
      try MethodTable.of(Dropping.self).register("go") { (dropping: Dropping) -> AnyCallObject in
        try? dropping.call.setTarget(nil)
        guard dropping.isSound else { exit(EXIT_FAILURE) }
        return AnyCallObject(
          Mischief(dropping.call) { try? $0.setTarget(Dropping($0)) })
      }
      let call = try Self.call()
      try call.invoke(on: Dropping(call))
      try call.setTarget(Dropping(call))
      for _ in 0..<3 { try call.invoke() }
    }
  }

  @Test("the former target, when another takes its place")
  func formerTarget() async {
    await #expect(processExitsWith: .success) {
      let call = try Self.call()
      let forwarder = Forwarder()
      forwarder.body = { _ in try? call.setTarget(nil) }
      try call.setTarget(Mischief(call, Self.setsTarget))
      try? call.invoke(on: forwarder)
      guard forwarder.isSound else { exit(EXIT_FAILURE) }
    }
  }

  @Test("a target that a forwarding object set, when the receiver is put back")
  func targetOfForwarder() async {
    await #expect(processExitsWith: .success) {
      let call = try Self.call()
      let forwarder = Forwarder()
      weak let held = forwarder
      forwarder.body = { lent in
        try lent.setTarget(Mischief(lent) { try? $0.setTarget(ClosureTarget()) })
      }
      let proxy = InterceptingProxy(forwarder)
      for _ in 0..<3 { try call.invoke(on: proxy) }
      guard held != nil, forwarder.isSound else { exit(EXIT_FAILURE) }
    }
  }

  @Test("a result that one target answered, when that of the next takes its place")
  func resultInReport() async {
    await #expect(processExitsWith: .success) {
      let proxy = MulticastProxy()
      for _ in 0..<2 {
        let target = ClosureTarget()
        try target.register("go") { () -> AnyCallObject in AnyCallObject(Sound()) }
        proxy.add(target, strongly: true)
      }
      let call = try Self.call()
      let report = try proxy.deliver(call) { call in
        try call.setResult(Mischief(call) { try? $0.setResult(Other()) })
        return .next
      }
      try call.setResult(nil)
      guard let sound = try report.entries[1].answer?.object() as? Sound, sound.isSound else {
        exit(EXIT_FAILURE)
      }
    }
  }

  @Test("a class that declares its methods while super is looked up")
  func declaring() async {
    await #expect(processExitsWith: .success) {
      let call = try Self.call()
      Declaring.call = call
      let target = Declaring()
      try call.setTarget(target)
      try call.invokeSuper(of: Forwarder.self)
      guard target.isSound else { exit(EXIT_FAILURE) }
    }
  }
}

@Suite("What a call uses stays until it is over")
struct ArgumentsInUseTests {
  @Test("a Swift body finds its arguments, whatever it does with the invocation it is called by")
  func lentArguments() async {
    await #expect(processExitsWith: .success) {
      final class Holder {
        let call: Invocation
        init(_ call: Invocation) { self.call = call }
      }
      let signature = try MethodSignature("v@:@*")
      try MethodTable.of(Holder.self).register(
        "go:with:",
        Implementation(signature) { lent in
          let call = (lent.target as? Holder)?.call
          #expect(throws: InvocationError.argumentInUse(index: 2)) {
            try call?.setArgument(nil as AnyObject?, at: 2)
          }
          #expect(throws: InvocationError.argumentInUse(index: 3)) {
            try call?.setArgument(String(repeating: "x", count: 100), at: 3)
          }
          guard try (lent.object(at: 2) as? Sound)?.isSound == true,
            try lent.argument(at: 3, as: String.self).hasPrefix("the text")
          else { exit(EXIT_FAILURE) }
        })
      let call = try Invocation(signature, selector: "go:with:")
      try call.setArgument(Sound() as AnyObject, at: 2)
      try call.setArgument("the text that is long enough to be allocated", at: 3)
      try call.invoke(on: Holder(call))
    }
  }

  private final class Hook: Sound, @unchecked Sendable {
    nonisolated(unsafe) static var again: (() -> Void)?
  }

  private static func lend(_ again: () -> Void, _ body: () -> Void) {
    withoutActuallyEscaping(again) { again in
      Hook.again = again
      body()
      Hook.again = nil
    }
  }

  private static func dropOwnReceiver() throws {
    let method = try Implementation(method: { (hook: Hook) -> Int32 in
      Hook.again?()
      guard hook.isSound else { exit(EXIT_FAILURE) }
      return 1
    })
    try CallPlan.shared(for: MethodSignature("i@:")).withInvocation { call in
      try call.setArgument(AnyCallObject(Hook()), at: 0)
      lend(
        { try? call.setArgument(AnyCallObject?.none, at: 0) },
        { try? call.invoke(using: method) })
    }
  }

  @Test("a scoped call keeps its receiver while it is made")
  func scopedReceiver() async {
    await #expect(processExitsWith: .success) { try Self.dropOwnReceiver() }
  }

  @Test("an answer in a report is its own, also of a target that keeps the invocation")
  func answers() throws {
    let keeper = Forwarder()
    var kept: Invocation?
    keeper.body = { call in
      try call.setResult(Sound())
      kept = call
    }
    let proxy = MulticastProxy()
    proxy.add(keeper)
    let report = try proxy.deliver(Invocation(MethodSignature("@@:"), selector: "go"))
    try kept?.setResult(Other())
    #expect(try report.entries[0].answer?.object() is Sound)
  }

  @Test("a structure with a pointer is not queued, whatever its first word is", arguments: [0, 1])
  func pointerInStructure(first: Int) throws {
    let call = try Invocation(parsing: "v@:{Pointing=q^v}")
    try call.setArgument(
      bytes: withUnsafeBytes(of: (first, UnsafeRawPointer(bitPattern: 16))) { Array($0) }, at: 2)
    #expect(call.firstBorrowedArgument == 2)
  }
}

@Suite("Questions that come back")
struct ReturningQuestionTests {
  private static let circles: [(name: String, object: @Sendable () -> AnyObject)] = [
    (
      "a proxy of itself",
      {
        let one = SingleTargetProxy(nil)
        one.setTarget(one)
        return one
      }
    ),
    (
      "two of each other",
      {
        let one = SingleTargetProxy(nil)
        one.setTarget(InterceptingProxy(one), strongly: true)
        return one
      }
    ),
    (
      "a fallback that is the asker",
      {
        let source = DataSourceProxy()
        source.setFallback(source)
        return source
      }
    ),
    (
      "many that hold themselves",
      {
        let many = MulticastProxy()
        many.add(many)
        return many
      }
    ),
  ]

  @Test("end with no", arguments: 0..<circles.count)
  func circle(_ index: Int) throws {
    let object = Self.circles[index].object()
    #expect(!Introspection.responds(object, to: "unheard:"))
    #expect(Introspection.signature(of: object, for: "unheard:") == nil)
    #expect(try !Introspection.conforms(object, to: ProtocolDescription("Unheard")))
    #expect(throws: (any Error).self) { try Message<Int32>("unheard")(on: object) }
  }

  @Test("too many proxies inside of each other are an error, not a message that is lost")
  func depth() throws {
    let end = ClosureTarget()
    try end.register("did:") { (_: Int32) in }
    var proxies: [MulticastProxy] = []
    for _ in 0..<201 {
      let proxy = MulticastProxy()
      proxy.add(proxies.last ?? end)
      proxies.append(proxy)
    }
    #expect(throws: InvocationError.forwardedTooDeeply("did:", limit: 200)) {
      try did(1, on: proxies.last)
    }
  }

  @Test("a class that declares and one that resolves do not wait for each other for ever")
  func twoQuestions() {
    let isOver = ends {
      Thread { _ = MethodTable.of(Meeting.Declaring.self) }.start()
      _ = MethodTable.of(Meeting.Resolving.self).instancesRespond(to: "foo")
    }
    #expect(isOver)
  }

  private enum Meeting {
    static let declares = DispatchSemaphore(value: 0)
    static let resolves = DispatchSemaphore(value: 0)

    final class Declaring: MethodDeclaring {
      static func declareMethods(_ methods: MethodDeclarations) {
        declares.signal()
        resolves.wait()
        _ = MethodTable.of(Resolving.self).instancesRespond(to: "foo")
      }
    }

    final class Resolving: MessageForwarding {
      static func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool {
        resolves.signal()
        declares.wait()
        _ = MethodTable.of(Declaring.self)
        return false
      }
    }
  }

  @Test("a registration for one message is not used up by one that cannot go to its queue")
  func once() throws {
    let proxy = MulticastProxy()
    let target = Listener("1", Log())
    proxy.add(target, on: .queue(.global()), once: true)
    #expect(throws: ForwardingError.resultNotAwaited(encodingOf("i"))) {
      try Messages.value(on: proxy)
    }
    #expect(proxy.registrationCount == 1)
  }
}
