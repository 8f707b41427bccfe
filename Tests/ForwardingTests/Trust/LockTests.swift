// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Invocations
import Testing

@testable import Forwarding

/// Runs a closure in its `deinit`, as a user's object may.
final class Mourner: CallObject, Sendable {
  private let atEnd: @Sendable () -> Void
  init(_ atEnd: @escaping @Sendable () -> Void) { self.atEnd = atEnd }
  deinit { atEnd() }
}

@Suite("No user object is released under a lock")
struct LockTests {
  /// A property that is set twice: the old value is released, and accesses the object from its
  /// `deinit`.
  struct Setting: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let replace: @Sendable (Log) throws -> Void

    init(_ name: String, _ replace: @escaping @Sendable (Log) throws -> Void) {
      testDescription = name
      self.replace = replace
    }
  }

  static let settings: [Setting] = [
    Setting("ClosureTarget.register") { log in
      let target = ClosureTarget()
      let mourner = Mourner { if target.unregister("did:") { log.add("died") } }
      try set(target, mourner)
      try target.register("did:", replacing: true) { (_: Int32) in }
    },
    Setting("ClosureTarget.unregister") { log in
      let target = ClosureTarget()
      let mourner = Mourner { if !target.unregister("did:") { log.add("died") } }
      try set(target, mourner)
      target.unregister("did:")
    },
    Setting("MulticastProxy.setFallback") { log in
      let proxy = MulticastProxy(asksOne: true)
      proxy.setFallback(Mourner { if proxy.fallback == nil { log.add("died") } }, strongly: true)
      proxy.setFallback(nil)
    },
    Setting("MulticastProxy.onDiagnostic") { log in
      let proxy = MulticastProxy()
      proxy.onDiagnostic = capturing(Mourner { if proxy.onDiagnostic == nil { log.add("died") } })
      proxy.onDiagnostic = nil
    },
    Setting("MulticastProxy.remove") { log in
      let proxy = MulticastProxy()
      let token = proxy.add(Mourner { if proxy.isEmpty { log.add("died") } }, strongly: true)
      proxy.remove(token)
    },
    Setting("MulticastProxy.init(one:)") { log in
      let proxy = MulticastProxy(one: Mourner {}, strongly: true)
      proxy.add(Mourner { if proxy.isEmpty { log.add("died") } }, strongly: true)
      proxy.removeAll()
    },
    Setting("InterceptingProxy.remove") { log in
      let proxy = InterceptingProxy(ClosureTarget())
      let mourner = Mourner {
        proxy.before { _ in }
        log.add("died")
      }
      proxy.remove(proxy.before { _ in withExtendedLifetime(mourner) {} })
    },
    Setting("MethodTable.replace") { log in
      class Changing {}
      let table = MethodTable.of(Changing.self)
      let name = Selector("changing")
      let mourner = Mourner { if table.own(name) != nil { log.add("died") } }
      table.replace(name, try method(mourner))
      table.replace(name, try Implementation { (_: AnyObject) in })
    },
    Setting("FunctionTable.unregister") { log in
      let functions = FunctionTable()
      let mourner = Mourner { if functions["f"] == nil { log.add("died") } }
      try register(functions, mourner)
      functions.unregister("f")
    },
  ]

  private static func set(_ target: ClosureTarget, _ mourner: Mourner) throws {
    try target.register("did:") { (_: Int32) in withExtendedLifetime(mourner) {} }
  }

  private static func method(_ mourner: Mourner) throws -> Implementation {
    try Implementation { (_: AnyObject) in withExtendedLifetime(mourner) {} }
  }

  private static func register(_ functions: FunctionTable, _ mourner: Mourner) throws {
    try functions.register("f") { () in withExtendedLifetime(mourner) {} }
  }

  private static func capturing(
    _ mourner: Mourner
  ) -> @Sendable (DeliveryDiagnostic) -> Void {
    { _ in withExtendedLifetime(mourner) {} }
  }

  @Test(
    "an old value that accesses the object in its deinit finds the new one", arguments: settings)
  func replacing(_ setting: Setting) {
    let log = Log()
    let isOver = ends { try? setting.replace(log) }
    #expect(isOver)
    #expect(log.all == ["died"])
  }

  @Test("the value that a lock guards is released after unlocking")
  func guarded() {
    let log = Log()
    let isOver = ends {
      let value = Guarded<Mourner?>(nil)
      value.withLock { $0 = Mourner { if value.read({ $0 == nil }) { log.add("died") } } }
      value.withLock { $0 = nil }
    }
    #expect(isOver)
    #expect(log.all == ["died"])
  }
}
