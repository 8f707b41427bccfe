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

  /// Adds a waiter, which is notified of each end of a call. Returns its number.
  func add(_ waiter: AsyncStream<Void>.Continuation) -> UInt64 {
    let number = SpyRecord.newStamp()
    record.withLockInPlace { $0.waiters[number] = waiter }
    return number
  }

  func remove(waiter number: UInt64) {
    let waiter = record.withLockInPlace { $0.waiters.removeValue(forKey: number) }
    waiter?.finish()
  }

  /// Ends a call, and notifies waiters.
  func end(_ stamp: UInt64) {
    for waiter in record.withLockInPlace({ $0.end(stamp) }) { waiter.yield() }
  }

  /// The calls of a selector that have ended.
  func ended(_ selector: Selector) -> [SpyRecord.Entry] {
    record.read { record in
      let open = Set(record.open)
      return record.calls.filter { $0.selector == selector && !open.contains($0.stamp) }
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
