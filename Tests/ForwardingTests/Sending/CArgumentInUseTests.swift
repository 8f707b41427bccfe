// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import Forwarding
import ForwardingTestSupport
import Testing
import TypeEncodings

@testable import Invocations

private final class Reader: CallObject {}

/// A C function accesses its own invocation through a callback.
@Suite("Arguments in use by C code")
struct CArgumentInUseTests {
  /// The outcome of setting the text inside the call, and the length of the text after it.
  private static func change(
    _ send: (Invocation, Reader) throws -> Void
  ) throws -> (error: InvocationError?, length: Int) {
    let code = unsafe unsafeBitCast(
      fixture_text_after
        as @convention(c) (
          UnsafeMutableRawPointer, UnsafeMutableRawPointer, UnsafePointer<CChar>,
          @convention(c) () -> Void
        ) -> Int, to: UnsafeRawPointer.self)
    try unsafe MethodTable.of(Reader.self).replace(
      Selector("read:after:"),
      Implementation(methodEncoding: "q@:*^?", unsafeFunction: code, receiver: Reader.self))
    let call = try Invocation(MethodSignature("q@:*^?"), selector: "read:after:")
    let seen = Guarded<InvocationError?>(nil)
    nonisolated(unsafe) let captured = call
    let callback = try Callback { () -> Void in
      do throws(InvocationError) {
        try captured.setArgument("another text, which takes the place of the first", at: 2)
      } catch {
        seen.withLock { $0 = error }
      }
    }
    try call.setArgument("a text that is long enough for memory of its own", at: 2)
    try call.setArgument(callback.address, at: 3)
    let reader = Reader()
    try send(call, reader)
    withExtendedLifetime(callback) {}
    // After the call the argument can be set again.
    try call.setArgument("other", at: 2)
    return (seen.read { $0 }, Int(try call.result(as: Int64.self)))
  }

  @Test("an argument cannot be replaced while its message is sent")
  func sent() throws {
    let (error, length) = try Self.change { try $0.invoke(on: $1) }
    #expect(error == .argumentInUse(index: 2))
    #expect(length == 48)
  }

  @Test("an argument stays intact until the end of a delivery")
  func delivered() throws {
    let proxy = MulticastProxy()
    let (_, length) = try Self.change { call, reader in
      proxy.add(reader, strongly: true)
      try call.invoke(on: proxy)
    }
    // A first delivery may carry a copy, and then the sender's own text can be replaced.
    #expect(length == 48)
  }
}
