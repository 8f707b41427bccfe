// SPDX-License-Identifier: Apache-2.0
import Foundation
import ForwardingTestSupport
import Testing

@testable import Forwarding
@testable import Invocations

@Suite("Errors that the sender does not receive")
struct UnheardErrorTests {
  /// A proxy whose targets throw their names, and a log of its listener.
  private static func proxy(_ names: [String]) throws -> (MulticastProxy, Log) {
    let proxy = MulticastProxy()
    let told = Log()
    proxy.onDiagnostic = {
      if case .failed(_, _, let error as Failure) = $0 { told.add(error.name) }
    }
    for name in names {
      let target = ClosureTarget()
      try target.register("did:") { (_: Int32) throws in throw Failure(name: name) }
      try target.register("value") { () throws -> Int32 in throw Failure(name: name) }
      proxy.add(target, strongly: true)
    }
    return (proxy, told)
  }

  @Test("a sender receives the first error of many targets, and the listener the others")
  func laterOnes() throws {
    let (proxy, told) = try Self.proxy(["a", "b", "c"])
    let thrown = #expect(throws: Failure.self) { try did(1, on: proxy) }
    #expect(thrown?.name == "a")
    #expect(told.all == ["b", "c"])
  }

  @Test("the listener receives the later errors of methods called in a row", arguments: [1, 2, 3])
  func row(count: Int) throws {
    let proxy = MulticastProxy()
    let told = Log()
    proxy.onDiagnostic = {
      if case .failed(_, let selector, let error) = $0 { told.add("\(selector) \(error)") }
    }
    for _ in 0..<count { proxy.add(RowThrower(), strongly: true) }
    #expect(throws: Failure.self) { try Message<NoResult>("fail")(on: proxy) }
    #expect(told.count == count - 1)
    #expect(throws: Failure.self) { try Message<Answer>("failObject")(on: proxy) }
    #expect(told.count == 2 * (count - 1))
  }

  @Test("what a listener causes itself is not told to it")
  func ownEvents() throws {
    let proxy = MulticastProxy()
    let told = Log()
    proxy.onDiagnostic = { [weak proxy] diagnostic in
      told.add("\(diagnostic)")
      if let proxy { _ = try? did(1, on: proxy) }
    }
    try did(1, on: proxy)
    try did(2, on: proxy)
    #expect(told.count == 2)
  }

  @Test("a message with a result throws the first error, and the listener receives the others")
  func questions() throws {
    let (proxy, told) = try Self.proxy(["a", "b"])
    let call = try Messages.value.invocation()
    #expect(throws: Failure.self) { try proxy.answers(to: call, as: Int32.self) }
    #expect(told.all == ["b"])
  }

  @Test("if an answer has another type, the listener receives the errors before it")
  func handler() throws {
    let (proxy, told) = try Self.proxy(["a", "b"])
    let target = ClosureTarget()
    try target.register("did:") { (_: Int32) in }
    proxy.add(target)
    #expect(throws: InvocationError.self) {
      try proxy.answers(to: did.invocation(1), as: String.self)
    }
    #expect(told.all == ["a", "b"])
  }

  @Test("a report has all errors, and the listener receives none")
  func report() throws {
    let (proxy, told) = try Self.proxy(["a", "b"])
    let report = try proxy.deliver(did.invocation(1))
    #expect(report.errors.count == 2)
    #expect(told.all == [])
  }

  @Test("the error of a callback, and the end of its object, once, go to the process's handler")
  func callbacks() async {
    await #expect(processExitsWith: .success) {
      let told = Log()
      ForwardingEvent.destination = .handler { told.add("\($0.kind) \($0)") }
      let door = try Callback(to: ClosureTarget(), selector: "did:", encoding: "vi")
      let function = try unsafe door.function(as: (@convention(c) (Int32) -> Void).self)
      for index in 0..<3 { function(Int32(index)) }
      let callback = try Callback { (_: Int32) throws -> Int32 in throw Failure(name: "late") }
      let throwing = try unsafe callback.function(as: (@convention(c) (Int32) -> Int32).self)
      require(throwing(1) == 0)
      let expected = [
        "deadReceiver C called the callback of -[ClosureTarget did:], whose object is gone, so C got "
          + "zero; keep the object",
        #"failed a callback threw, and C got zero: Failure(name: "late")"#,
      ]
      require(told.all == expected, "\(told.all)")
    }
  }

  @Test("a listener may remove the targets that failed, and wait for their end")
  func removing() async {
    await #expect(processExitsWith: .success) {
      let proxy = MulticastProxy()
      let targets = (0..<3).map { _ in RowThrower() }
      for target in targets { proxy.add(target) }
      proxy.onDiagnostic = { [weak proxy] in
        if case .failed(let token, _, _) = $0 {
          guard (try? proxy?.removeAndWait(token)) == true else { exit(EXIT_FAILURE) }
        }
      }
      // It would deadlock.
      alarm(120)
      #expect(throws: Failure.self) { try Message<Void>("fail")(on: proxy) }
      // The sender receives the error of the first target.
      exit(proxy.count == 1 ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

}

/// Declares its methods for the class, so that targets of it are called in a row.
private final class RowThrower: MethodDeclaring {
  static func declareMethods(_ methods: MethodDeclarations) {
    methods.register("fail") { (_: RowThrower) throws in throw Failure(name: "row") }
    methods.register("failObject") { (_: RowThrower) throws -> Answer in
      throw Failure(name: "row")
    }
  }
}

/// A result that is owned, and must be released.
private final class Answer: CallObject {}
