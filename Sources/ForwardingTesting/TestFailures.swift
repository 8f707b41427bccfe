@_exported public import Forwarding
@_exported public import Spies
internal import Testing
internal import XCTest

/// Takes the failures of spies to the test library that runs: to Swift Testing at the line of the expectation,
/// and to XCTest where a test case of it runs.
///
/// ```swift
/// let spy = SpyProxy(reportingTo: TestFailures())
/// ```
public struct TestFailures: SpyReporter {
  /// Makes a reporter.
  public init() {}

  public func report(_ failure: SpyFailure) {
    let place = failure.place
    // Without a test of Swift Testing it is one of XCTest's; that does nothing where none runs, and an issue
    // of no test is shown in any case.
    if Test.current == nil {
      XCTFail("\(failure)", file: place.filePath, line: UInt(place.line))
    }
    Issue.record(
      Comment(rawValue: "\(failure)"),
      sourceLocation: SourceLocation(
        fileID: "\(place.fileID)", filePath: "\(place.filePath)", line: place.line,
        column: place.column))
  }
}

extension Spy {
  /// Makes a spy whose failures are those of the test that runs.
  public convenience init(
    _ manner: SpyManner = .nice, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
  ) {
    self.init(
      manner, reportingTo: TestFailures(), fileID: fileID, filePath: filePath, line: line,
      column: column)
  }

  /// Makes a spy in front of an object, which it keeps, and which gets what the spy has no answer for.
  public convenience init(
    wrapping real: Face.__Target, _ manner: SpyManner = .nice, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: Int = #line, column: Int = #column
  ) {
    self.init(
      wrapping: real, manner, reportingTo: TestFailures(), fileID: fileID, filePath: filePath,
      line: line, column: column)
  }
}

extension SpyProxy {
  /// Makes a spy whose failures are those of the test that runs, in front of an object if there is one.
  public convenience init(
    _ manner: SpyManner = .nice, wrapping real: AnyObject? = nil,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: Int = #line,
    column: Int = #column
  ) {
    self.init(
      manner, wrapping: real, reportingTo: TestFailures(), fileID: fileID, filePath: filePath,
      line: line, column: column)
  }
}
