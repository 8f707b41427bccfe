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
    do throws(WireError) {
      let message = try interface.message(
        definition.interface, definition.selector, definition.encoding)
      while known.count <= number { known.append(nil) }
      known[number] = message
      return message
    } catch {
      throw schema(definition, frame.offset)
    }
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
  typealias Ready = (call: Invocation, frame: JournalFrame)

  /// Returns the next call to make; nil at the end.
  func next() throws -> Ready? {
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
      summary.last = frame.header.sequence
      do {
        let call = try call(of: frame)
        summary.made += 1
        return (call, frame)
      } catch {
        // The next read returns the call that was not made.
        reader.unread(frame)
        throw error
      }
    }
    return nil
  }

  private func call(of frame: JournalFrame) throws -> Invocation {
    let message = try message(of: frame, in: reader)
    let call = Invocation(message.plan)
    try call.setSelector(message.selector)
    try reader.scanner.arguments(of: frame) { (reader) throws(WireError) in
      try message.readArguments(of: call, from: &reader)
      try reader.finish()
    }
    return call
  }

  /// Counts a call that failed. Throws if that ends the replay.
  func note(_ error: any Error, of ready: Ready) throws {
    summary.threw += 1
    if firstFailure == nil {
      firstFailure = (ready.frame, ready.call.selector?.name ?? "", error)
    }
    if options.failures == .throwAtOnce { throw failure ?? error }
  }

  private var failure: ReplayError? {
    firstFailure.map {
      ReplayError(
        summary: summary, sequence: $0.frame.header.sequence, selector: $0.selector,
        first: $0.error)
    }
  }

  /// The result of the replay. Throws if calls have failed, unless that is ignored.
  func conclude() throws -> ReplaySummary {
    if let failure, options.failures != .ignore { throw failure }
    return summary
  }
}
