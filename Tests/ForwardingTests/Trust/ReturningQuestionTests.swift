// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Synchronization
import Testing

@testable import Forwarding
@testable import Invocations

@Suite("Queries through circles of proxies")
struct ReturningQuestionTests {
  private static let circles: [(name: String, object: @Sendable () -> AnyObject)] = [
    (
      "a proxy of itself",
      {
        let one = MulticastProxy(one: nil)
        one.add(one)
        return one
      }
    ),
    (
      "two of each other",
      {
        let one = MulticastProxy(one: nil)
        one.add(InterceptingProxy(one), strongly: true)
        return one
      }
    ),
    (
      "a fallback that is the asker",
      {
        let source = MulticastProxy(asksOne: true)
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

  @Test("a query through a circle of proxies returns no", arguments: 0..<circles.count)
  func circle(_ index: Int) throws {
    let object = Self.circles[index].object()
    #expect(!Introspection.responds(object, to: "unheard:"))
    #expect(Introspection.signature(of: object, for: "unheard:") == nil)
    #expect(try !Introspection.conforms(object, to: ProtocolDescription("Unheard")))
    #expect(throws: (any Error).self) { try Message<Int32>("unheard")(on: object) }
  }

  @Test("too deeply nested proxies are an error, and no message is lost")
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

  @Test("a class that declares and one that resolves do not deadlock")
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

  @Test("a message that cannot go to its queue does not use up a registration for one message")
  func once() throws {
    let proxy = MulticastProxy()
    let target = Listener("1", Log())
    proxy.add(target, on: .queue(.global()), once: true)
    let value = ForwardingError.Context(
      selector: "value", target: Listener.self, queue: DispatchQueue.global().label)
    #expect(throws: ForwardingError.resultNotAwaited(value, encodingOf("i"))) {
      try Messages.value(on: proxy)
    }
    #expect(proxy.registrationCount == 1)
  }

  /// A class that removes a registration while it is asked for a method.
  private final class Leaving: MessageForwarding {
    nonisolated(unsafe) static var leave: (() -> Void)?

    static func resolveMethod(_ selector: Selector, in table: MethodTable) -> Bool {
      leave?()
      return false
    }
  }

  @Test("a target may be removed, and its end awaited, while a proxy asks it for types")
  func removedWhileAsked() async {
    await #expect(processExitsWith: .success) {
      let target = Leaving()
      let proxy = MulticastProxy()
      let token = proxy.add(target)
      Leaving.leave = {
        guard (try? proxy.removeAndWait(token)) != nil else { exit(EXIT_FAILURE) }
      }
      // It would deadlock.
      alarm(120)
      #expect(proxy.methodSignature(for: "whatIsNotThere") == nil)
      exit(proxy.count == 0 ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }
}
