public import Forwarding

/// A promise of a test that a spy found broken: what was expected where, and what came instead.
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
  /// What the test expected.
  public var expected: String
  /// How what came differs, in a few words.
  public var given: String
  /// The calls that were received, the nearest to what was expected first.
  public var received: [String]
  /// The line of the expectation.
  public var place: SpyPlace
}

extension SpyFailure: CustomStringConvertible {
  /// How many calls a description shows.
  static var shownCalls: Int { 8 }

  public var description: String {
    var text = "expected \(expected), \(given)"
    for call in received.prefix(Self.shownCalls) { text += "\n  \(call)" }
    let rest = received.count - Self.shownCalls
    if rest > 0 { text += "\n  … and \(rest) more" }
    return text
  }
}

/// A line of a test.
///
/// ```swift
/// let place = SpyPlace(fileID: "Tests/A.swift", filePath: "/A.swift", line: 3, column: 1)
/// "\(place)"  // Tests/A.swift:3:1
/// ```
public struct SpyPlace: Sendable, CustomStringConvertible {
  /// The module and the file, as `#fileID`.
  public var fileID: StaticString
  /// The file, as `#filePath`.
  public var filePath: StaticString
  /// The line, from 1 on.
  public var line: Int
  /// The column, from 1 on.
  public var column: Int

  /// Names a line.
  public init(fileID: StaticString, filePath: StaticString, line: Int, column: Int) {
    (self.fileID, self.filePath, self.line, self.column) = (fileID, filePath, line, column)
  }

  public var description: String { "\(fileID):\(line):\(column)" }
}

/// Where the failures of a spy go: to a test library, or to anybody else.
///
/// ```swift
/// struct Printing: SpyReporter {
///   func report(_ failure: SpyFailure) { print("\(failure.place): \(failure)") }
/// }
/// let spy = SpyProxy(reportingTo: Printing())
/// spy.transcript  // []
/// ```
public protocol SpyReporter: Sendable {
  /// Takes a failure, on the thread that found it. No lock is held.
  func report(_ failure: SpyFailure)
}

/// Why a spy does not answer a message.
///
/// ```swift
/// let spy = SpyProxy(reportingTo: Printing())
/// try Message<Int>("count")(on: spy)  // throws: 'count' has no answer here: the spy was given none
/// ```
public enum SpyError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message has a result, and the spy was given no answer.
  case notStubbed(Selector)

  public var description: String {
    switch self {
    case .notStubbed(let selector):
      "'\(selector)' has no answer here: the spy was given none"
    }
  }
}

/// What a spy makes of a message that it has no answer for.
///
/// ```swift
/// let spy = SpyProxy(.strict, reportingTo: Printing())
/// let close = try Message<NoResult>("close")
/// spy[close].allow()
/// try close(on: spy)
/// spy[close].calls  // 1
/// ```
public enum SpyManner: Sendable {
  /// It is kept, and has no answer: a face gives what its requirement says, nil, `@Otherwise`, or an error.
  case nice
  /// It is a failure, at the line where the spy was made, and otherwise as nice.
  case strict
}
