// SPDX-License-Identifier: Apache-2.0
#if Macros
  import Forwarding
  import Testing

  /// A type of the program with the name of a lent type of Swift's, which has type arguments.
  final class Span: Sendable {
    let name: String
    init(_ name: String) { self.name = name }
  }

  @Forwardable
  protocol Tracing: AnyObject {
    @Otherwise(0) func end(_ span: Span) -> Int
  }

  final class Tracer: Tracing {
    func end(_ span: Span) -> Int { span.name.count }
  }

  @Suite("A type of the program that is called Span")
  struct OwnSpanTests {
    @Test("a requirement with one is a message")
    func message() throws {
      let tracers = Multicast<TracingProxy>()
      let tracer = Tracer()
      tracers.add(tracer)
      #expect(try tracers.messages.end.all(Span("four")) == [4])
      #expect(tracers.proxy.end(Span("three")) == 5)
    }
  }
#endif
