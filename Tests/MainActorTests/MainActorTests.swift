// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations
import Testing

// Classes of this module are isolated to the main actor by default. The thread of the first sender
// calls `declareMethods`, so the requirement is nonisolated unless a class isolates it.

@MainActor
class Screen: MethodDeclaring {
  var shown = 0

  init() {}

  nonisolated class func declareMethods(_ methods: MethodDeclarations) {
    methods.register("show:") { (screen: Screen, value: Int32) in
      MainActor.assumeIsolated { screen.shown += Int(value) }
    }
  }
}

class Dialog: Screen {}

final class Plain: MethodDeclaring {
  class func declareMethods(_ methods: MethodDeclarations) {
    methods.register("value") { (_: Plain) -> Int32 in 4 }
  }
}

final class Resolving: MessageForwarding {
  static func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool {
    (try? table.register(selector) { (_: AnyObject) -> Int32 in 5 }) != nil
  }
}

final class Holding: MethodProviding {
  func ownMethod(for selector: Selector) -> Implementation? {
    try? Implementation { (_: AnyObject) -> Int32 in 6 }
  }
}

@Suite("A program on the main actor by default")
struct MainActorTests {
  @Test("methods declared by a class on the main actor are found when another thread asks first")
  func declared() async throws {
    let isFound = await Task.detached {
      MethodTable.of(Dialog.self).instancesRespond(to: "show:")
    }.value
    #expect(isFound)
    let dialog = Dialog()
    try Message<NoResult, Int32>("show:")(3, on: dialog)
    #expect(dialog.shown == 3)
  }

  @Test("a message reaches an object on the main actor through its lane")
  func lane() async throws {
    let screen = Screen()
    let proxy = MulticastProxy()
    proxy.add(screen, on: .actor(MainActor.shared))
    let ticket = try await Task.detached {
      try proxy.deliver(Message<NoResult, Int32>("show:").invocation(4)).entries[0].ticket
    }.value
    #expect(await ticket?.value().isAnswer == true)
    #expect(screen.shown == 4)
  }

  @Test("classes without annotations declare, resolve and hold methods for any thread")
  func plain() async throws {
    let answers = try await Task.detached {
      let value = try Message<Int32>("value")
      return [try value(on: Plain()), try value(on: Resolving()), try value(on: Holding())]
    }.value
    #expect(answers == [4, 5, 6])
  }
}
