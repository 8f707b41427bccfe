// SPDX-License-Identifier: Apache-2.0
import ForwardingTesting
import Invocations
import XCTest

/// Captures the failures that XCTest reports, so that they do not fail this test.
final class SpyXCTests: XCTestCase {
  private var recorded: [(description: String, file: String, line: Int)] = []

  override func recordFailure(
    withDescription description: String, inFile filePath: String, atLine lineNumber: Int,
    expected: Bool
  ) {
    recorded.append((description, filePath, lineNumber))
  }

  func testAFailureIsXCTestsOwnAtTheLineOfTheExpectation() throws {
    let spy = SpyProxy()
    let close = try Message<NoResult>("close")
    let line = #line + 1
    spy[close].expect()
    let found = recorded
    recorded = []
    guard found.count == 1, found[0].file == #filePath, found[0].line == line,
      found[0].description.contains("expected 1 call of 'close', received none")
    else {
      // Not an assertion, because this class captures failed assertions.
      fatalError("XCTest was told of \(found)")
    }
  }
}
