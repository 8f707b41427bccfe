// SPDX-License-Identifier: Apache-2.0
import Forwarding
import ForwardingTestSupport
import Foundation
import Invocations
import Testing

@Suite("Queries through circles of proxies")
struct ReturningQuestionTests {
  @Test("a query through a circle of proxies returns no")
  func circle() throws {
    let (one, two, many) = (MulticastProxy(one: nil), MulticastProxy(one: nil), MulticastProxy())
    one.add(one)
    two.add(InterceptingProxy(two), strongly: true)
    many.add(many)
    let source = MulticastProxy(asksOne: true)
    source.setFallback(source)
    for object in [one, two, many, source] {
      #expect(!Introspection.responds(object, to: "unheard:"))
      #expect(Introspection.signature(of: object, for: "unheard:") == nil)
      #expect(try !Introspection.conforms(object, to: ProtocolDescription("Unheard")))
      #expect(throws: (any Error).self) { try Message<Int32>("unheard")(on: object) }
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
}
