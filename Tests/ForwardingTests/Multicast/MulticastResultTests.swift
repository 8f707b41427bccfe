// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import ForwardingTestSupport
import Dispatch
import Invocations
import Testing

@testable import Forwarding

@Suite("Multicast: results and failures")
struct MulticastResultTests {
  static func proxy(_ names: [String], _ log: Log = Log()) throws -> MulticastProxy {
    let proxy = MulticastProxy()
    for name in names { proxy.add(Listener(name, log), strongly: true) }
    return proxy
  }

  @Test("a C function with a result in memory answers for each target")
  func resultInMemory() throws {
    final class Window {
      let width: Double
      init(_ width: Double) { self.width = width }
    }
    typealias Frame = @convention(c) (UnsafeRawPointer, UnsafeRawPointer) -> FixtureRectangle
    let frame: Frame = { receiver, _ in
      let window = unsafe Unmanaged<Window>.fromOpaque(receiver).takeUnretainedValue()
      return FixtureRectangle(origin: .init(x: 1, y: 2), size: .init(x: window.width, y: 4))
    }
    try unsafe MethodTable.of(Window.self).register(
      "frame", encoding: "\(FixtureRectangle.typeEncoding)@:",
      unsafeFunction: unsafeBitCast(frame, to: UnsafeRawPointer.self))
    let proxy = MulticastProxy()
    for width in [3.0, 5.0] { proxy.add(Window(width), strongly: true) }
    let message = try Message<FixtureRectangle>("frame")
    #expect(try message(on: proxy).size.x == 5)
    #expect(try message.all(on: proxy).map(\.size.x) == [3, 5])
  }

  @Test("no target answers: nothing for void; for a value an error or zero, by choice")
  func nobody() throws {
    let proxy = MulticastProxy()
    let diagnostics = Log()
    proxy.onDiagnostic = { diagnostics.add("\($0)") }
    try did(1, on: proxy)
    #expect(throws: ForwardingError.nobodyAnswered("value")) {
      try Messages.value(on: proxy)
    }
    proxy.whenNobodyAnswers = .zero
    #expect(try Messages.value(on: proxy) == 0)
    #expect(
      diagnostics.all == [
        "no target answered 'did:'", "no target answered 'value'", "no target answered 'value'",
      ])
    // An older result is not returned as an answer.
    proxy.whenNobodyAnswers = .throwForResults
    let call = try Messages.value.invocation()
    try call.setResult(Int32(7))
    _ = try proxy.deliver(call)
    #expect(throws: InvocationError.resultNotAvailable) { try call.result(as: Int32.self) }
  }

  @Test("later targets see the changes of earlier ones to memory behind a pointer")
  func sharedMemory() throws {
    class Adder {}
    try MethodTable.of(Adder.self).register("addTo:") {
      (_: Adder, number: UnsafeMutablePointer<Int32>) in
      number.pointee = number.pointee * 10 + 1
    }
    let proxy = MulticastProxy()
    for _ in 0..<3 { proxy.add(Adder(), strongly: true) }
    var number: Int32 = 0
    _ = try withUnsafeMutablePointer(to: &number) { pointer in
      try Message<NoResult, UnsafeMutablePointer<Int32>>("addTo:")(pointer, on: proxy)
    }
    #expect(number == 111)
  }
}
