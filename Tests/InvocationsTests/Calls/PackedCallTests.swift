// SPDX-License-Identifier: Apache-2.0
import Invocations
import Testing
import TypeEncodings

@Suite("Packed calls")
struct PackedCallTests {
  @Test(
    "a packed call has the message's name; without a direct engine none is packed",
    arguments: [
      ("v@:", "stop"), ("v@:i", "stopAfter:"), ("v@:qd", "stopAfter:at:"), ("v@:d", "stopAt:"),
    ] as [(String, Selector)])
  func selector(encoding: String, name: Selector) throws {
    let call = try Invocation(MethodSignature(parsing: encoding))
    try call.setSelector(name)
    let packed = call.packed()
    #expect((packed == nil) == !CallPlan.hasDirectEngine)
    #expect(packed?.selector ?? name == name)
    #expect(packed?.invocation().selector ?? name == name)
  }
}
