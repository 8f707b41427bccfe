// SPDX-License-Identifier: Apache-2.0
@_exported public import Forwarding
internal import Testing
internal import XCTest

/// Reports failures of spies to the test library of the running test: to Swift Testing at the line
/// of the expectation, or to XCTest if one of its test cases runs.
///
/// ```swift
/// let spy = SpyProxy(reportingTo: TestFailures())
/// ```
public struct TestFailures: SpyReporter {
  /// Makes a reporter.
  public init() {}

  public func report(_ failure: SpyFailure) {
    let place = failure.place
    // Outside Swift Testing this may be a test case of XCTest. `XCTFail` does nothing outside
    // XCTest, and an issue without a test is shown in any case.
    if Test.current == nil {
      XCTFail("\(failure)", file: place.filePath, line: UInt(place.line))
    }
    Issue.record(
      Comment(rawValue: "\(failure)"),
      sourceLocation: SourceLocation(
        fileID: "\(place.fileID)", filePath: "\(place.filePath)", line: place.line, column: 1))
  }
}
