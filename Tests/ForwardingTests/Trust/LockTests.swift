// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Invocations
import Testing

/// Runs a closure in its `deinit`, as a user's object may.
private final class Mourner: CallObject, Sendable {
  private let atEnd: @Sendable () -> Void
  init(_ atEnd: @escaping @Sendable () -> Void) { self.atEnd = atEnd }
  deinit { atEnd() }
}

/// Something that is set twice: the old value is released, and uses the object from its `deinit`.
private struct Replacing: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let replace: @Sendable (Log) throws -> Void

  init(_ name: String, _ replace: @escaping @Sendable (Log) throws -> Void) {
    (testDescription, self.replace) = (name, replace)
  }
}

// A closure that a function makes retains the object alone.
private func set(_ target: ClosureTarget, _ mourner: Mourner) throws {
  try target.register("did:") { (_: Int32) in withExtendedLifetime(mourner) {} }
}
private func method(_ mourner: Mourner) throws -> Implementation {
  try Implementation { (_: AnyObject) in withExtendedLifetime(mourner) {} }
}
private func register(_ functions: FunctionTable, _ mourner: Mourner) throws {
  try functions.register("f") { () in withExtendedLifetime(mourner) {} }
}
private func capturing(_ mourner: Mourner) -> @Sendable (DeliveryDiagnostic) -> Void {
  { _ in withExtendedLifetime(mourner) {} }
}

private let all: [Replacing] = [
  Replacing("ClosureTarget.register") { log in
    let target = ClosureTarget()
    try set(target, Mourner { if target.unregister("did:") { log.add("died") } })
    try target.register("did:", replacing: true) { (_: Int32) in }
  },
  Replacing("ClosureTarget.unregister") { log in
    let target = ClosureTarget()
    try set(target, Mourner { if !target.unregister("did:") { log.add("died") } })
    target.unregister("did:")
  },
  Replacing("MulticastProxy.setFallback") { log in
    let proxy = MulticastProxy(asksOne: true)
    proxy.setFallback(Mourner { if proxy.fallback == nil { log.add("died") } }, strongly: true)
    proxy.setFallback(nil)
  },
  Replacing("MulticastProxy.onDiagnostic") { log in
    let proxy = MulticastProxy()
    proxy.onDiagnostic = capturing(Mourner { if proxy.onDiagnostic == nil { log.add("died") } })
    proxy.onDiagnostic = nil
  },
  Replacing("MulticastProxy.remove") { log in
    let proxy = MulticastProxy()
    proxy.remove(proxy.add(Mourner { if proxy.isEmpty { log.add("died") } }, strongly: true))
  },
  Replacing("MulticastProxy.init(one:)") { log in
    let proxy = MulticastProxy(one: Mourner {}, strongly: true)
    proxy.add(Mourner { if proxy.isEmpty { log.add("died") } }, strongly: true)
    proxy.removeAll()
  },
  Replacing("InterceptingProxy.remove") { log in
    let proxy = InterceptingProxy(ClosureTarget())
    let mourner = Mourner {
      proxy.before { _ in }
      log.add("died")
    }
    proxy.before { _ in withExtendedLifetime(mourner) {} }.remove()
  },
  Replacing("MethodTable.replace") { log in
    class Changing {}
    let (table, name) = (MethodTable.of(Changing.self), Selector("changing"))
    table.replace(name, try method(Mourner { if table.own(name) != nil { log.add("died") } }))
    table.replace(name, try Implementation { (_: AnyObject) in })
  },
  Replacing("FunctionTable.unregister") { log in
    let functions = FunctionTable()
    try register(functions, Mourner { if functions["f"] == nil { log.add("died") } })
    functions.unregister("f")
  },
  Replacing("Guarded.withLock") { log in
    let value = Guarded<Mourner?>(nil)
    value.withLock { $0 = Mourner { if value.read({ $0 == nil }) { log.add("died") } } }
    value.withLock { $0 = nil }
  },
]

@Suite("No user object is released under a lock")
struct LockTests {
  @Test("an old value that uses the object in its deinit finds the new one", arguments: all)
  fileprivate func replacing(_ replacing: Replacing) {
    let log = Log()
    let isOver = ends { try? replacing.replace(log) }
    #expect(isOver)
    #expect(log.all == ["died"])
  }
}
