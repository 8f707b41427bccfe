// SPDX-License-Identifier: Apache-2.0
/// A failed expectation, with its place and the received calls.
///
/// ```swift
/// struct Printing: SpyReporter {
///   func report(_ failure: SpyFailure) {
///     print(failure.expected)  // 1 call of 'close'
///     print(failure.given)     // received none
///   }
/// }
/// let close = try Message<NoResult>("close")
/// SpyProxy(reportingTo: Printing())[close].expect()  // false
/// ```
public struct SpyFailure: Error, Sendable, CustomStringConvertible {
  /// The expectation.
  public var expected: String
  /// The difference, in a few words.
  public var given: String
  /// The received calls, those of the expected message first.
  public var received: [String]
  /// The place of the expectation.
  public var place: SpyPlace

  public var description: String {
    let shown = 8
    var text = "expected \(expected), \(given)"
    for call in received.prefix(shown) { text += "\n  \(call)" }
    if received.count > shown { text += "\n  … and \(received.count - shown) more" }
    return text
  }
}

/// A place in a test's source code.
///
/// ```swift
/// let place = SpyPlace(fileID: "Tests/A.swift", filePath: "/A.swift", line: 3)
/// "\(place)"  // Tests/A.swift:3
/// ```
public struct SpyPlace: Sendable, CustomStringConvertible {
  /// The module and the file, as `#fileID` gives them.
  public var fileID: StaticString
  /// The path of the file, as `#filePath` gives it.
  public var filePath: StaticString
  /// The line, counted from 1.
  public var line: Int

  /// Makes a place.
  public init(fileID: StaticString, filePath: StaticString, line: Int) {
    (self.fileID, self.filePath, self.line) = (fileID, filePath, line)
  }

  public var description: String { "\(fileID):\(line)" }
}

/// A receiver of failures, such as a test library.
///
/// ```swift
/// struct Printing: SpyReporter {
///   func report(_ failure: SpyFailure) { print("\(failure.place): \(failure)") }
/// }
/// let spy = SpyProxy(reportingTo: Printing())
/// spy.transcript  // []
/// ```
public protocol SpyReporter: Sendable {
  /// Handles a failure. Called on the thread that found it, without a lock held.
  func report(_ failure: SpyFailure)
}
