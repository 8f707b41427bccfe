import Invocations
import Testing
import TypeEncodings

@Suite("A call is packed, to be made later")
struct PackedCallTests {
  @Test(
    "it has the message's name, or is not packed, as without registers",
    arguments: ["v@:", "v@:i", "v@:qd", "v@:d"])
  func selector(encoding: String) throws {
    let call = try Invocation(MethodSignature(parsing: encoding))
    try call.setSelector("stop")
    let packed = call.packed()
    #expect((packed == nil) == !CallPlan.hasDirectEngine)
    #expect(packed?.selector ?? "stop" == "stop")
    #expect(packed?.invocation().selector ?? "stop" == "stop")
  }
}
