// SPDX-License-Identifier: Apache-2.0
public import Forwarding

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
public struct SpyFailure: Error, Sendable {
  /// The expectation.
  public var expected: String
  /// The difference, in a few words.
  public var given: String
  /// The received calls, those most like the expected one first.
  public var received: [String]
  /// The place of the expectation.
  public var place: SpyPlace
}

extension SpyFailure: CustomStringConvertible {
  /// The number of calls that a description shows.
  static var shownCalls: Int { 8 }

  public var description: String {
    var text = "expected \(expected), \(given)"
    for call in received.prefix(Self.shownCalls) { text += "\n  \(call)" }
    let rest = received.count - Self.shownCalls
    if rest > 0 { text += "\n  … and \(rest) more" }
    return text
  }
}

/// A place in a test's source code.
///
/// ```swift
/// let place = SpyPlace(fileID: "Tests/A.swift", filePath: "/A.swift", line: 3, column: 1)
/// "\(place)"  // Tests/A.swift:3:1
/// ```
public struct SpyPlace: Sendable, CustomStringConvertible {
  /// The module and the file, as `#fileID` gives them.
  public var fileID: StaticString
  /// The path of the file, as `#filePath` gives it.
  public var filePath: StaticString
  /// The line, counted from 1.
  public var line: Int
  /// The column, counted from 1.
  public var column: Int

  /// Makes a place.
  public init(fileID: StaticString, filePath: StaticString, line: Int, column: Int) {
    (self.fileID, self.filePath, self.line, self.column) = (fileID, filePath, line, column)
  }

  public var description: String { "\(fileID):\(line):\(column)" }
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

/// The error of a call that a spy cannot answer.
///
/// ```swift
/// let spy = SpyProxy(reportingTo: Printing())
/// try Message<Int>("count")(on: spy)  // throws: 'count' has no answer here: the spy was given none
/// ```
public enum SpyError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message has a result, but the spy has no answer for it.
  case notStubbed(Selector)

  public var description: String {
    switch self {
    case .notStubbed(let selector):
      "'\(selector)' has no answer here: the spy was given none"
    }
  }
}

/// How a spy treats a message that it has no answer for.
///
/// ```swift
/// let spy = SpyProxy(.strict, reportingTo: Printing())
/// let close = try Message<NoResult>("close")
/// spy[close].allow()
/// try close(on: spy)
/// spy[close].calls  // 1
/// ```
public enum SpyManner: Sendable {
  /// The call is recorded, without an answer. A face then gives the default of the requirement,
  /// nil, the value of `@Otherwise`, or an error.
  case nice
  /// As `nice`, but the call is also reported as a failure, at the line where the spy was made.
  case strict
}
