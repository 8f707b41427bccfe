// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Testing

/// Sources that a client in a target with strict memory safety must not be able to compile.
///
/// `RECORD_GOLDENS=1` rewrites their comments.
@Suite("Sources that do not compile")
struct RefusedSourceTests {
  @Test("the compiler refuses the sources, with the expected messages")
  func refused() throws {
    for issue in try RefusedSources("Refused", options: []).check() { Issue.record("\(issue)") }
  }
}
