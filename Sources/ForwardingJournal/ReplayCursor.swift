// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Invocations

/// Prepares the calls of a replay, one after the other.
final class ReplayCursor {
  private let reader: JournalReader
  private let interface: Interface
  private let options: ReplayOptions
  private let isAwaited: Bool
  private var summary = ReplaySummary()
  private var firstFailure: (frame: JournalFrame, selector: String, error: any Error)?
  /// The messages of the current file, by their numbers there.
  private var known: [InterfaceMessage?] = []
  private var file = 0
  /// The sequence number of the last call that was checked before the replay; nil if there is no
  /// call.
  private var last: UInt64?

  /// Reads all remaining records, and throws if one cannot be read or made, or if another replay has
  /// the reader.
  init(
    _ reader: JournalReader, _ interface: Interface, _ options: ReplayOptions,
    isAwaited: Bool = false
  ) throws {
    if reader.isReplaying { throw JournalError.inUse(path: reader.path) }
    (self.reader, self.interface, self.options) = (reader, interface, options)
    self.isAwaited = isAwaited
    reader.isReplaying = true
    try checkCancellation()
    if options.first > 0, options.first < reader.first, reader.nextSequence == reader.first {
      throw JournalError.missing(offset: 0, expected: options.first, given: reader.first)
    }
    let ahead = reader.ahead()
    while let frame = try ahead.nextFrame() {
      try checkCancellation()
      if isBehind(frame) { break }
      last = frame.header.sequence
      if isWanted(frame) { _ = try message(of: frame, in: ahead) }
    }
    // The reader goes through the files again.
    (known, file) = ([], reader.file)
  }

  deinit { reader.isReplaying = false }

  private func checkCancellation() throws { if isAwaited { try Task.checkCancellation() } }

  private func isWanted(_ frame: JournalFrame) -> Bool { frame.header.sequence >= options.first }

  private func isBehind(_ frame: JournalFrame) -> Bool {
    options.last.map { frame.header.sequence > $0 } ?? false
      || options.until.map { frame.header.time > $0 } ?? false
  }

  /// The message of a call, which this process must have with the recorded types. Refuses a call that
  /// is longer than the interface allows.
  private func message(
    of frame: JournalFrame, in reader: JournalReader
  ) throws(JournalError) -> InterfaceMessage {
    guard frame.count <= interface.limits.message else {
      throw .malformed(
        offset: frame.offset,
        WireError(.limit(interface.limits.message, given: frame.count), at: 4))
    }
    if reader.file != file { (known, file) = ([], reader.file) }
    let number = Int(frame.header.message)
    if number < known.count, let message = known[number] { return message }
    let definition = reader.scanner.definition(of: frame)
    guard
      let message = interface.message(
        definition.interface, definition.selector, definition.encoding)
    else { throw schema(definition, frame.offset) }
    while known.count <= number { known.append(nil) }
    known[number] = message
    return message
  }

  private func schema(_ definition: Definition, _ offset: Int) -> JournalError {
    let isOurs = definition.interface == interface.nameBytes
    let prefix = isOurs ? [] : definition.interface + Array("/".utf8)
    return .schema(
      offset: offset, selector: String(decoding: prefix + definition.selector, as: UTF8.self),
      expected: isOurs ? interface.message(named: definition.selector)?.encoding : nil,
      given: String(decoding: definition.encoding, as: UTF8.self))
  }

  /// A call, and its record.
  struct Ready {
    let call: Invocation
    let frame: JournalFrame
    let selector: Selector

    /// The error of a call that an object does not answer. A proxy without a target takes a call
    /// without a result all the same, and throws nothing.
    func unanswered(by target: AnyObject) -> InvocationError? {
      if Introspection.responds(target, to: selector) { return nil }
      return .unrecognizedSelector(selector, type: SwiftType(type(of: target)), nearest: nil)
    }
  }

  /// Returns the next call to make; nil at the end. An error tells which calls have failed before.
  func next() throws -> Ready? {
    do { return try ready() } catch {
      guard options.failures != .ignore, let failure = failure(ending: error) else { throw error }
      throw failure
    }
  }

  private func ready() throws -> Ready? {
    // Records written after the check, perhaps by the replayed calls, are not replayed.
    guard let last else { return nil }
    while reader.nextSequence <= last {
      try checkCancellation()
      guard let frame = try reader.nextFrame() else { return nil }
      if frame.header.sequence > last {
        reader.unread(frame)
        return nil
      }
      guard isWanted(frame) else { continue }
      do {
        let ready = try call(of: frame)
        summary.made += 1
        summary.last = frame.header.sequence
        return ready
      } catch {
        // The next read returns the call that was not made.
        reader.unread(frame)
        throw error
      }
    }
    return nil
  }

  private func call(of frame: JournalFrame) throws -> Ready {
    let message = try message(of: frame, in: reader)
    let call = Invocation(message.plan)
    try call.setSelector(message.selector)
    try reader.scanner.arguments(of: frame) { (reader) throws(WireError) in
      try message.readArguments(of: call, from: &reader)
      try reader.finish()
    }
    return Ready(call: call, frame: frame, selector: message.selector)
  }

  /// Counts a call that failed. Throws if that ends the replay.
  func note(_ error: any Error, of ready: Ready) throws {
    summary.threw += 1
    if firstFailure == nil {
      firstFailure = (ready.frame, ready.selector.name, error)
    }
    if options.failures == .throwAtOnce { throw failure() ?? error }
  }

  private func failure(ending: (any Error)? = nil) -> ReplayError? {
    firstFailure.map {
      ReplayError(
        summary: summary, sequence: $0.frame.header.sequence, selector: $0.selector,
        first: $0.error, ending: ending)
    }
  }

  /// The result of the replay. Throws if calls have failed, unless that is ignored.
  func conclude() throws -> ReplaySummary {
    if options.failures != .ignore, let failure = failure() { throw failure }
    return summary
  }
}
