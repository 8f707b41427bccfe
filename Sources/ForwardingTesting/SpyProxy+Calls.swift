// SPDX-License-Identifier: Apache-2.0
import Forwarding
import Invocations
import TypeEncodings

/// A recorded call, as an invocation.
struct KeptCall {
  let selector: Selector
  let stamp: UInt64
  /// Whether a test has looked at the call.
  let isSeen: Bool
  let invocation: Invocation
  /// The tape with the call, and its index there.
  let tape: CallTapes.Tape
  let index: Int

  init(_ tape: CallTapes.Tape, _ index: Int) {
    let stamp = tape.stamp(at: index)
    (self.tape, self.index, self.stamp, isSeen) = (tape, index, stamp & ~1, stamp & 1 != 0)
    selector = tape.selector
    invocation = tape.invocation(at: index)
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
    -> [KeptCall]
  {
    var all: [KeptCall] = []
    tapes.read { tapes in
      let chosen = tapes.filter { selector == nil || $0.selector == selector }
      all.reserveCapacity(chosen.reduce(0) { $0 + $1.count })
      for tape in chosen {
        for index in 0..<tape.count { all.append(KeptCall(tape, index)) }
        if marking, matches == nil { tape.markAll() }
      }
      // The calls of a single tape are already in order.
      if chosen.count > 1 { all.sort { $0.stamp < $1.stamp } }
    }
    guard let matches else { return all }
    let found = all.filter { call in (try? matches(call.invocation)) ?? false }
    if marking { mark(found) }
    return found
  }

  /// Marks calls as seen by the test.
  func mark(_ calls: [KeptCall]) {
    tapes.read { _ in for call in calls { call.tape.mark(at: call.index) } }
  }

  /// Counts the calls of a selector, and marks them as seen by the test. Without a condition it makes
  /// no invocations: a test may ask for the number in a loop, while senders wait for the lock.
  func count(_ selector: Selector, where matches: SpyMatch?) -> Int {
    guard matches == nil else { return kept(selector, where: matches, marking: true).count }
    return tapes.read { tapes in
      let own = tapes.filter { $0.selector == selector }
      for tape in own { tape.markAll() }
      return own.reduce(0) { $0 + $1.count }
    }
  }

  // MARK: Waiters

  /// Adds a waiter for a selector. It gets the calls recorded so far and each further one.
  func add(_ waiter: SpyWaiter, _ selector: Selector) {
    var older: [SpyWaiter.Seen] = []
    tell(selector, watchers: 1) { tapes, open in
      let open = Set(open)
      for tape in tapes where tape.selector == selector {
        for index in 0..<tape.count {
          let stamp = tape.stamp(at: index) & ~1
          older.append(
            SpyWaiter.Seen(
              stamp: stamp, isOpen: open.contains(stamp),
              invocation: waiter.matches == nil ? nil : tape.invocation(at: index)))
        }
      }
    } _: {
      $0.waiters.append(waiter)
    }
    waiter.takeOlder(older)
  }

  func remove(_ waiter: SpyWaiter, _ selector: Selector) {
    tell(selector, watchers: -1) { $0.waiters.removeAll { $0 === waiter } }
  }

  /// Notifies waiters of the end of a call.
  func end(_ stamp: UInt64) {
    for case let script as SpyScript in tapes.end(stamp) {
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
