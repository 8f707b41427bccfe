import Invocations
import Testing
import TypeEncodings

@Suite("A call is packed, to be made later")
struct PackedCallTests {
  @Test(
    "it has the message's name, or is not packed, as without registers",
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
