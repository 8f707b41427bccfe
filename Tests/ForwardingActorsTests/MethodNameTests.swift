import Testing

@testable import ForwardingActors

@Suite("Names of distributed methods")
struct MethodNameTests {
  @Test(
    "a name says whose method it is",
    arguments: [
      ("$s3app7GreeterC5greetyS2SYaKFTE", true),
      ("$s3app7GreeterC5titleSSyYaKFTE", true),
      ("$s3app7GreeterC4none1a1bySi_ACtYaKFTE", true),
      ("$s3app7GreeterC3addE5greetyS2SYaKFTE", true),
      ("$s3app7GreeterC03extB0SiyYaKFTE", true),
      ("$s3app7GreeterC6hidden33_5ECC00EB05E36CB85A2432A19BE16335LLSiyYaKFTE", true),
      ("$s3app7GreeterC5InnerC5greetyS2SYaKFTE", false),
      ("$s3app7GreeterC5SpaceO2InC3fooSiyYaKFTE", false),
      ("$s3app7GreeterC3addE5InnerC5greetyS2SYaKFTE", false),
      ("$s3app7GreeterC4Priv33_5ECC00EB05E36CB85A2432A19BE16335LLC3fooSiyYaKFTE", false),
      ("$s3app7GreeterC5localyyAA1SCYaF5LocalL_C3barSiyYaKFTE", false),
      ("$s3app7GreeterC5localyyF5LocalL0_C3barSiyYaKFTE", false),
      ("$s3app7GreeterC5greetyS2SYaKF", false),
      ("$s3app7GreeterC99greetyS2SYaKFTE", false),
      ("$s3app7GreeterCFTE", false),
      ("$s3app7GreeterC5greetFTE", false),
      ("$s3app7GreeterSC5greetyS2SYaKFTE", false),
    ])
  func whose(_ name: String, _ isOwn: Bool) {
    #expect(MethodName.isMethod(name, of: "3app7GreeterC") == isOwn)
  }

  @Test(
    "a type without a name of its own has no methods", arguments: ["", "3app", "3app3BoxCySiG"])
  func nameless(_ type: String) {
    #expect(!MethodName.isMethod("$s3app7GreeterC5greetyS2SYaKFTE", of: type))
    #expect(!MethodName.isMethod("$s3app3BoxCySiG5greetyS2SYaKFTE", of: type))
  }
}
