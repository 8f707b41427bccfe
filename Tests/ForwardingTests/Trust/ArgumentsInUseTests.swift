// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Foundation
import Invocations
import Testing
import TypeEncodings

private final class Typed: CallObject {}
private final class Native: CallObject {}
private final class Holding: CallObject, MethodProviding {
  func ownMethod(for selector: Selector) -> Implementation? {
    Intrusion.happen()
    return try? Implementation(method: { (_: Holding, _: AnyCallObject?, _: String?) in })
  }
}

/// Resolves a selector when a class below it looks for a method in it.
private class Resolving: CallObject, MessageForwarding {
  class func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool {
    Intrusion.happen()
    let method = try? Implementation(method: { (_: Resolving, _: AnyCallObject?, _: String?) in })
    return method.map { table.replace(selector, $0) } != nil
  }
}
private final class Below: Resolving {}

/// Forwards what it has no method for.
private class Passing: CallObject, MessageForwarding {
  func methodSignature(for selector: Selector) -> MethodSignature? {
    try? MethodSignature("v@:@*")
  }
  func forward(_ invocation: Invocation) throws {}
}
private final class Declaring: Passing, MethodDeclaring {
  static func declareMethods(_ methods: MethodDeclarations) { Intrusion.happen() }
}

/// A message that is sent, and what code that runs in its middle cannot replace.
private final class Intrusion: @unchecked Sendable {
  // SAFETY: used on one thread, in a separate process.
  nonisolated(unsafe) static var current: Intrusion?

  let call: Invocation
  var refused: Set<Int> = []

  init() throws {
    call = try Invocation(MethodSignature("v@:@*"), selector: "take:text:")
    try call.setArgument(Typed(), at: 2)
    try call.setArgument("a text that is long enough for memory of its own", at: 3)
  }

  static func happen() {
    guard let intrusion = current else { return }
    let call = intrusion.call
    func attempt(_ change: () throws -> Void) {
      do { try change() } catch InvocationError.argumentInUse(let index) {
        intrusion.refused.insert(index)
      } catch { fatalError("\(error)") }
    }
    call.retainArguments()
    for target in [nil, Typed()] { attempt { try call.setTarget(target) } }
    attempt { try call.setArgument(nil as AnyObject?, at: 2) }
    attempt { try call.setArgument(String(repeating: "x", count: 100), at: 3) }
  }
}

@Suite("What a call uses stays valid until it ends")
struct ArgumentsInUseTests {
  @Test("a method, C code, a target of a delivery and a lookup cannot replace what their call uses")
  func inUse() async {
    await #expect(processExitsWith: .success) {
      let take:
        @convention(c) (UnsafeRawPointer, UInt, UnsafeRawPointer?, UnsafePointer<CChar>?)
          -> Void = { _, _, _, _ in Intrusion.happen() }
      let code = unsafeBitCast(take, to: UnsafeRawPointer.self)
      try MethodTable.of(Typed.self).register("take:text:") {
        (_: Typed, _: AnyCallObject?, _: String?) in Intrusion.happen()
      }
      try unsafe MethodTable.of(Native.self).register(
        "take:text:", encoding: "v@:@*", unsafeFunction: code)
      let proxy = MulticastProxy()
      for target in [Typed(), Native(), Typed()] as [AnyObject] {
        proxy.add(target, strongly: true)
      }
      func check(_ refused: Set<Int>, _ send: (Invocation) throws -> Void, line: Int = #line) throws
      {
        let intrusion = try Intrusion()
        Intrusion.current = intrusion
        try send(intrusion.call)
        Intrusion.current = nil
        require(intrusion.refused == refused, "\(intrusion.refused)", line: line)
        // Afterwards all can be replaced.
        try intrusion.call.setTarget(nil)
        try intrusion.call.setArgument("other", at: 3)
      }
      try check([0, 2, 3]) { try $0.invoke(on: Typed()) }
      try check([0, 2, 3]) { try $0.invoke(on: Native()) }
      try check([0, 2, 3]) { try $0.invoke(on: proxy) }
      try check([0, 2, 3]) { _ = try proxy.deliver($0) }
      try check([0]) { try $0.invoke(on: Holding()) }
      try check([0]) {
        try $0.setTarget(Below())
        try $0.invokeSuper(of: Below.self)
      }
      try check([0]) {
        try $0.setTarget(Declaring())
        try $0.invokeSuper(of: Passing.self)
      }
      try check([0, 2, 3]) {
        try $0.setTarget(Native())
        try $0.invoke(using: code)
      }
      try check([0, 2, 3]) {
        try $0.setTarget(Native())
        _ = try $0.invokeCapturingErrno(using: code)
      }
    }
  }

  /// An invocation that its own method sends again, a given number of times.
  private final class Spiral {
    var call: Invocation?
    var left = 0
    var refused: InvocationError?
  }

  @Test(
    "an invocation that is sent 70,000 times inside itself stays in use",
    .disabled(
      if: Sanitizer.current != nil,
      "ThreadSanitizer keeps 65,536 frames, and those of AddressSanitizer have no room on a thread's stack"
    ))
  func manyUses() async {
    await #expect(processExitsWith: .success) {
      let thread = Thread {
        do {
          try MethodTable.of(Spiral.self).register("turn:") { (spiral: Spiral, _: Typed) in
            spiral.left -= 1
            if spiral.left > 0 { return try spiral.call?.invoke() ?? () }
            do throws(InvocationError) {
              try spiral.call?.setArgument(nil as AnyObject?, at: 2)
            } catch { spiral.refused = error }
          }
          let spiral = Spiral()
          let call = try Invocation(MethodSignature("v@:@"), selector: "turn:")
          try call.setArgument(Typed() as AnyObject, at: 2)
          spiral.call = call
          // The values around 65,536, at which a 16-bit count would wrap.
          for turns in [65_535, 65_536, 65_537, 70_000] {
            (spiral.left, spiral.refused) = (turns, nil)
            try call.invoke(on: spiral)
            require(spiral.refused == .argumentInUse(index: 2), "\(turns) turns")
          }
          exit(EXIT_SUCCESS)
        } catch { exit(EXIT_FAILURE) }
      }
      // Address space only; few of the pages are ever used.
      thread.stackSize = 2 << 30
      thread.start()
      while true { pause() }
    }
  }

  /// Answers with a body that the test sets.
  private final class Forwarder: MessageForwarding, @unchecked Sendable {
    var body: (Invocation) throws -> Void = { _ in }
    func responds(to selector: Selector) -> Bool { true }
    func methodSignature(for selector: Selector) -> MethodSignature? {
      try? MethodSignature("@@:")
    }
    func forward(_ invocation: Invocation) throws { try body(invocation) }
  }

  @Test("an answer in a report is independent, also if a target retains the invocation")
  func answers() throws {
    let keeper = Forwarder()
    var kept: Invocation?
    keeper.body = { call in
      try call.setResult(Typed())
      kept = call
    }
    let proxy = MulticastProxy()
    proxy.add(keeper)
    let report = try proxy.deliver(Invocation(MethodSignature("@@:"), selector: "go"))
    try kept?.setResult(ClosureTarget())
    #expect(try report.entries[0].answer?.resultObject() is Typed)
  }

  @Test("a structure with a pointer is not queued, whatever its first word is", arguments: [0, 1])
  func pointerInStructure(first: Int) throws {
    let call = try Invocation(parsing: "v@:{Pointing=q^v}")
    try call.setArgument(
      bytes: withUnsafeBytes(of: (first, UnsafeRawPointer(bitPattern: 16))) { Array($0) }, at: 2)
    #expect(call.call.firstBorrowedArgument == 2)
  }

  /// State that a handler of diagnostics shares with its test. All runs on one thread.
  private final class Watch: @unchecked Sendable {
    weak var proxy: MulticastProxy?
    var call: Invocation?
    var seenAlive: [Bool] = []
  }

  @Test("a proxy that only the call retains lives until its delivery ends")
  func soleProxy() throws {
    let watch = Watch()
    let call = try Invocation(MethodSignature("v@:"), selector: "soleProxyTold")
    do {
      let proxy = MulticastProxy()
      for _ in 0..<2 { proxy.add(Typed()) }
      proxy.onDiagnostic = { [unowned watch] _ in
        try? watch.call?.setTarget(nil)
        watch.seenAlive.append(watch.proxy != nil)
      }
      watch.proxy = proxy
      try call.setTarget(proxy)
    }
    watch.call = call
    try? call.invoke()
    #expect(watch.seenAlive.count >= 2)
    #expect(!watch.seenAlive.contains(false))
    #expect(watch.proxy == nil)
  }

  // One after the other, because both register the method for one class.
  @Test("a result that a throwing body set is discarded", .serialized, arguments: ["i@:", "*@:"])
  func thrown(encoding: String) throws {
    let call = try Invocation(parsing: encoding)
    try call.setSelector(Selector("answer"))
    nonisolated(unsafe) let captured = call
    let body: @Sendable (Invocation) throws -> Void = { _ in
      if encoding == "i@:" {
        try captured.setResult(Int32(99))
      } else {
        try captured.setResult("stale")
      }
      throw Failure(name: "refused")
    }
    try MethodTable.of(Typed.self).replace(
      Selector("answer"), Implementation(MethodSignature(parsing: encoding), invocation: body))
    #expect(throws: Failure.self) { try call.invoke(on: Typed()) }
    #expect(throws: InvocationError.resultNotAvailable) { try call.resultBytes() }
  }
}
