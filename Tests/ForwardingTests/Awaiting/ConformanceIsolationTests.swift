// SPDX-License-Identifier: Apache-2.0
import Invocations
import Testing

@testable import Forwarding

private protocol Showing: AnyObject { func show() }
private protocol Base: AnyObject { func show() }
private protocol Derived: Base { func hide() }

@globalActor private actor StoreActor { static let shared = StoreActor() }
private typealias Main = MainActor

@MainActor private final class OnMain: @MainActor Showing { func show() {} }
@MainActor private final class ByAlias: @Main Showing { func show() {} }
@StoreActor private final class OnStore: @StoreActor Showing { func show() {} }
@MainActor private class Generic<Value>: @MainActor Showing { func show() {} }
@MainActor private final class Below: Generic<Int> {}
@MainActor private final class Inherited: @MainActor Derived {
  func show() {}
  func hide() {}
}
private final class Plain: Showing { func show() {} }
private class PlainGeneric<Value>: Showing { func show() {} }
private final class PlainBelow: PlainGeneric<Int> {}
@MainActor private final class Free: Showing { nonisolated func show() {} }
private actor Own: Showing { nonisolated func show() {} }
private final class Stranger {}
private final class Nameless { func show() -> Int { 1 } }

@Suite("The actor of a conformance")
struct ConformanceIsolationTests {
  private func name<Value>(
    _ type: AnyClass, _ existential: Any.Type = (any Showing).self, as value: Value = ()
  ) -> String {
    switch ConformanceIsolation(of: type, to: existential, as: value) {
    case .none: "none"
    case .actor(let actor): "\(Swift.type(of: actor))"
    case .unknown: "unknown"
    }
  }

  @Test("it is the one that the compiler recorded; nonisolated members and classes are on none")
  func named() {
    let rows: [(of: AnyClass, to: Any.Type, expected: String)] = [
      (OnMain.self, (any Showing).self, "MainActor"),
      (ByAlias.self, (any Showing).self, "MainActor"),
      (OnStore.self, (any Showing).self, "StoreActor"),
      (Generic<String>.self, (any Showing).self, "MainActor"),
      (Below.self, (any Showing).self, "MainActor"),
      (Inherited.self, (any Derived).self, "MainActor"),
      (Inherited.self, (any Base).self, "MainActor"),
      (OnMain.self, (any Showing & Sendable).self, "MainActor"),
      (Plain.self, (any Showing).self, "none"),
      (PlainGeneric<String>.self, (any Showing).self, "none"),
      (PlainBelow.self, (any Showing).self, "none"),
      (Free.self, (any Showing).self, "none"),
      (Own.self, (any Showing).self, "none"),
      // Without the conformance, or without a protocol.
      (Stranger.self, (any Showing).self, "none"),
      (OnMain.self, Any.self, "none"),
      (OnMain.self, AnyObject.self, "none"),
      (OnMain.self, Stranger.self, "none"),
      (OnMain.self, Int.self, "none"),
      (OnMain.self, (any Showing & Base).self, "none"),
      (OnMain.self, (() -> Void).self, "none"),
    ]
    for row in rows { #expect(name(row.of, row.to) == row.expected, "\(row)") }
  }

  @Test("the witness table of a target says the same as the runtime's search")
  @MainActor
  func byValue() {
    let targets: [any Showing] = [
      OnMain(), ByAlias(), Generic<String>(), Below(), Plain(), PlainGeneric<Int>(), PlainBelow(),
      Free(), Own(),
    ]
    for target in targets {
      #expect(name(type(of: target), as: target) == name(type(of: target)))
    }
    let shared: [any Showing & Sendable] = [OnMain(), ByAlias(), Own()]
    for target in shared {
      #expect(name(type(of: target), as: target) == name(type(of: target)))
    }
    let inherited: any Derived = Inherited()
    #expect(name(Inherited.self, (any Derived).self, as: inherited) == "MainActor")
    #expect(name(Inherited.self, (any Base).self, as: inherited as any Base) == "MainActor")
    // Two words that are not an object and a table.
    #expect(name(OnMain.self, as: "text of two words") == "MainActor")
    #expect(name(OnMain.self, as: (UInt(1), UInt(1))) == "MainActor")
  }

  @Test("a conformance whose actor the runtime cannot name refuses all messages")
  @MainActor
  func unknown() async throws {
    let methods = _ProxyMethods<Nameless>(
      table: MethodTable.of(Nameless.self), actor: nil, conformance: .unknown)
    methods.answer(
      Requirement<Int>("show"), unsafe ProxyBody { (object: Nameless) in object.show() })
    methods.declare()
    let nameless = Nameless()
    let refusal = ForwardingError.wrongIsolation(
      .init(selector: "show", target: Nameless.self), .nonisolated)
    #expect(throws: refusal) {
      try Message<Int>("show")(on: nameless)
    }
    await #expect(throws: refusal) {
      try await AsyncMessage<Int>("show")(on: nameless)
    }
  }
}
