// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations
import TypeEncodings

/// A recorded call, as an invocation.
struct SpiedCall {
  let selector: Selector
  let stamp: UInt64
  /// Whether a test had looked at the call before.
  let isSeen: Bool
  let invocation: Invocation

  init(_ entry: SpyRecord.Entry) {
    (selector, stamp, isSeen) = (entry.selector, entry.stamp, entry.isSeen)
    invocation = entry.call.invocation()
  }

  /// The selector and the arguments, such as `chat:shouldSend:(<Chat>, "hello")`.
  var text: String {
    let arguments = (2..<max(2, invocation.methodSignature.numberOfArguments)).map {
      invocation.call.text(ofArgument: $0)
    }
    return "\(selector)(\(arguments.joined(separator: ", ")))"
  }
}

extension SpyProxy {
  /// The recorded calls, of one selector or of all, in their order.
  ///
  /// - Parameter marking: whether the calls are marked as seen by the test.
  func kept(_ selector: Selector? = nil, where matches: SpyMatch? = nil, marking: Bool = false)
    -> [SpiedCall]
  {
    func isMeant(_ entry: SpyRecord.Entry) -> Bool { selector == nil || entry.selector == selector }
    let all = record.withLockInPlace { record in
      let calls = record.calls.filter(isMeant)
      if marking, matches == nil { record.mark(where: isMeant) }
      return calls
    }.map(SpiedCall.init)
    guard let matches else { return all }
    let found = all.filter { call in (try? matches(call.invocation)) ?? false }
    if marking { mark(found) }
    return found
  }

  /// Marks calls as seen by the test.
  func mark(_ calls: [SpiedCall]) {
    let stamps = Set(calls.map(\.stamp))
    record.withLockInPlace { $0.mark { stamps.contains($0.stamp) } }
  }

  /// Counts the calls of a selector, and marks them as seen by the test. Without a condition it makes
  /// no invocations: a test may ask for the number in a loop, while senders wait for the lock.
  func count(_ selector: Selector, where matches: SpyMatch?) -> Int {
    guard matches == nil else { return kept(selector, where: matches, marking: true).count }
    return record.withLockInPlace { record in
      record.mark { $0.selector == selector }
      return record.calls.count { $0.selector == selector }
    }
  }

  // MARK: Waiters

  /// Adds a waiter for a selector. It gets the calls recorded so far and each further one.
  func add(_ waiter: SpyWaiter, _ selector: Selector) {
    let (calls, open) = tell(selector, waiters: 1) { $0.waiters.append(waiter) }
    waiter.takeOlder(calls.filter { $0.selector == selector }, open: Set(open))
  }

  func remove(_ waiter: SpyWaiter, _ selector: Selector) {
    tell(selector, waiters: -1) { $0.waiters.removeAll { $0 === waiter } }
  }

  /// Notifies waiters of the end of a call.
  func end(_ stamp: UInt64) {
    for script in record.withLockInPlace({ $0.end(stamp) }) {
      for waiter in script.parts.waiters { waiter.end(stamp) }
    }
  }

  /// All calls in their order, as text: the selector and the arguments.
  ///
  /// ```swift
  /// let spy = SpyProxy(reportingTo: Printing())
  /// try Message<NoResult, Int32>("didSave:")(5, on: spy)
  /// spy.transcript  // ["didSave:(5)"]
  /// ```
  public var transcript: [String] { kept().map(\.text) }

  func fail(_ expected: String, _ given: String, _ received: [String], _ place: SpyPlace) {
    reporter.report(
      SpyFailure(expected: expected, given: given, received: received, place: place))
  }
}
