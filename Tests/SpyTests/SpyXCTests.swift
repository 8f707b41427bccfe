import ForwardingTesting
import XCTest

/// Keeps the failures that XCTest is told of, which are none of this test.
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
      // Recorded, and not asserted: this class keeps what is asserted.
      fatalError("XCTest was told of \(found)")
    }
  }
}
