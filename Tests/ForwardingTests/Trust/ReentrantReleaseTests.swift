// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Testing
import TypeEncodings

@testable import Forwarding
@testable import Invocations

private final class Declaring: HandForwarder, MethodDeclaring {
  nonisolated(unsafe) static var call: Invocation?
  static func declareMethods(_ methods: MethodDeclarations) {
    try? call?.setTarget(AnotherObject())
  }
}

@Suite("Code that runs in the middle of a call cannot redirect it")
struct ReentrantReleaseTests {
  private static func call() throws -> Invocation {
    try Invocation(MethodSignature("@@:"), selector: "go")
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
