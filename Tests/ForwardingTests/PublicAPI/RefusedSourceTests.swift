import ForwardingTestSupport
import Testing

/// Sources that a client in a target with strict memory safety must not be able to compile.
///
/// `RECORD_GOLDENS=1` writes their comments anew.
@Suite("Sources that do not compile")
struct RefusedSourceTests {
  @Test(
    "the compiler refuses what the rule refuses, and says what to do",
    .enabled(if: Toolchain.hasAllModules, "only a part of the modules was built"))
  func refused() throws {
    for issue in try RefusedSources("Refused", options: []).check() { Issue.record("\(issue)") }
  }
}
