// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Synchronization
import Testing

@testable import Forwarding
@testable import Invocations

/// Changes an invocation in its `deinit`.
private final class Mischief: CallObject {
  let call: Invocation
  let deed: (Invocation) -> Void

  init(_ call: Invocation, _ deed: @escaping (Invocation) -> Void) {
    self.call = call
    self.deed = deed
  }

  deinit { deed(call) }
}

private final class DerivedForwarder: HandForwarder {}

private final class Dropping: SoundObject, @unchecked Sendable {
  let call: Invocation
  init(_ call: Invocation) { self.call = call }
}

private final class Declaring: HandForwarder, MethodDeclaring {
  nonisolated(unsafe) static var call: Invocation?
  static func declareMethods(_ methods: MethodDeclarations) {
    try? call?.setTarget(AnotherObject())
  }
}

@Suite("An object that is released during a call cannot redirect it")
struct ReentrantReleaseTests {
  private static func call() throws -> Invocation {
    try Invocation(MethodSignature("@@:"), selector: "go")
  }

  private static func setsTarget(_ call: Invocation) { try? call.setTarget(AnotherObject()) }

  @Test("an older result that is released before an object forwards cannot redirect the call")
  func resultBeforeForwarding() async {
    await #expect(processExitsWith: .success) {
      let call = try Self.call()
      let forwarder = HandForwarder()
      forwarder.body = { try $0.setResult(Mischief(call, Self.setsTarget)) }
      for _ in 0..<3 { try call.invoke(on: forwarder) }
      #expect(forwarder.isSound)
    }
  }

  @Test(
    "an older result that is released in an interceptor or before super cannot redirect the call")
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

  @Test("an older result cannot redirect a call to a method that releases its target")
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

  @Test("the former target cannot redirect the call when another one replaces it")
  func formerTarget() async {
    await #expect(processExitsWith: .success) {
      let call = try Self.call()
      let forwarder = HandForwarder()
      forwarder.body = { _ in try? call.setTarget(nil) }
      try call.setTarget(Mischief(call, Self.setsTarget))
      try? call.invoke(on: forwarder)
      guard forwarder.isSound else { exit(EXIT_FAILURE) }
    }
  }

  @Test(
    "a target set by a forwarding object cannot redirect the call when the receiver is restored")
  func targetOfForwarder() async {
    await #expect(processExitsWith: .success) {
      let call = try Self.call()
      let forwarder = HandForwarder()
      weak let held = forwarder
      forwarder.body = { lent in
        try lent.setTarget(Mischief(lent) { try? $0.setTarget(ClosureTarget()) })
      }
      let proxy = InterceptingProxy(forwarder)
      for _ in 0..<3 { try call.invoke(on: proxy) }
      guard held != nil, forwarder.isSound else { exit(EXIT_FAILURE) }
    }
  }

  @Test("the result of one target cannot redirect the call when the next result replaces it")
  func resultInReport() async {
    await #expect(processExitsWith: .success) {
      let proxy = MulticastProxy()
      for _ in 0..<2 {
        let target = ClosureTarget()
        try target.register("go") { () -> AnyCallObject in AnyCallObject(SoundObject()) }
        proxy.add(target, strongly: true)
      }
      let call = try Self.call()
      let report = try proxy.deliver(call) { call in
        try call.setResult(Mischief(call) { try? $0.setResult(AnotherObject()) })
        return .next
      }
      try call.setResult(nil)
      guard let sound = try report.entries[1].answer?.object() as? SoundObject, sound.isSound else {
        exit(EXIT_FAILURE)
      }
    }
  }

  @Test("a class that declares its methods in a lookup of super cannot redirect the call")
  func declaring() async {
    await #expect(processExitsWith: .success) {
      let call = try Self.call()
      Declaring.call = call
      let target = Declaring()
      try call.setTarget(target)
      try call.invokeSuper(of: HandForwarder.self)
      guard target.isSound else { exit(EXIT_FAILURE) }
    }
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
      for _ in 0..<2 { proxy.add(AnotherObject()) }
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
}
