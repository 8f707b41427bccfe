// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Invocations

/// Prepares the calls of a replay, one after the other.
final class ReplayCursor {
  private let reader: JournalReader
  private let interface: Interface
  private let options: ReplayOptions
  private let isAwaited: Bool
  private(set) var summary = ReplaySummary()
  /// The messages of the current file, by their numbers there.
  private var known: [Known] = []
  private var file = 0
  private var lastTime: Int64?
  /// The sequence number of the last call that was checked before the replay; nil if there is no
  /// call.
  private var last: UInt64?
  /// How long to wait before the prepared call, in nanoseconds.
  private(set) var delay: Int64 = 0

  private struct Known {
    /// Nil if this process does not have the message with these types.
    var message: InterfaceMessage?
    /// A call of the message that can be reused, because no other code refers to it.
    var spare: Invocation?
  }

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
    let ahead = try reader.ahead()
    let limit = ReadingLimit(
      bytes: interface.limits.message, first: options.first, last: options.last ?? .max,
      until: options.until ?? .max)
    ahead.limit = limit
    // By the numbers of the messages in each file.
    var (checked, file): ([Bool], Int) = ([], 0)
    while let frame = try ahead.nextFrame() {
      try checkCancellation()
      if isBehind(frame) { break }
      last = frame.header.sequence
      if options.migrate != nil || !isWanted(frame) { continue }
      if ahead.file != file { (checked, file) = ([], ahead.file) }
      let number = Int(frame.header.message)
      while checked.count <= number { checked.append(false) }
      if checked[number] { continue }
      checked[number] = true
      let definition = ahead.scanner.definitions[number]
      if Self.message(definition, interface) == nil {
        throw Self.schema(definition, interface, frame.offset)
      }
    }
    reader.limit = limit
  }

  deinit {
    reader.limit = ReadingLimit()
    reader.isReplaying = false
  }

  private func checkCancellation() throws { if isAwaited { try Task.checkCancellation() } }

  private func isWanted(_ frame: JournalFrame) -> Bool { frame.header.sequence >= options.first }

  private func isBehind(_ frame: JournalFrame) -> Bool {
    options.last.map { frame.header.sequence > $0 } ?? false
      || options.until.map { frame.header.time > $0 } ?? false
  }

  private static func message(
    _ definition: Definition, _ interface: Interface
  ) -> InterfaceMessage? {
    try? interface.message(definition.interface, definition.selector, definition.encoding)
  }

  private static func schema(
    _ definition: Definition, _ interface: Interface, _ offset: Int
  ) -> JournalError {
    func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    let isOurs = definition.interface == interface.nameBytes
    return .schema(
      offset: offset,
      selector: isOurs
        ? text(definition.selector)
        : "\(text(definition.interface))/\(text(definition.selector))",
      expected: isOurs ? interface.message(named: definition.selector)?.encoding : nil,
      given: text(definition.encoding))
  }

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
      let made: Ready?
      do { made = try filtered(frame) } catch {
        // The next read returns the call that was not made.
        reader.unread(frame)
        throw error
      }
      guard let ready = made else {
        summary.skipped += 1
        continue
      }
      if let speed = options.speed, speed > 0 { wait(for: frame.header.time, speed) }
      if options.isDry {
        give(back: ready)
        continue
      }
      return ready
    }
    return nil
  }

  /// A call, and the number of its message if the call can be reused.
  struct Ready: ~Copyable {
    let call: Invocation
    let number: Int?
    let frame: JournalFrame
  }

  private func filtered(_ frame: JournalFrame) throws -> Ready? {
    if let filter = options.filter, try !filter(JournalRecord(frame, in: reader.scanner)) {
      return nil
    }
    let ready = try ready(frame)
    // The filter may have taken long.
    if ready != nil { try checkCancellation() }
    return ready
  }

  private func ready(_ frame: JournalFrame) throws -> Ready? {
    let scanner = reader.scanner
    if reader.file != file { (file, known) = (reader.file, []) }
    while known.count < scanner.definitions.count {
      known.append(Known(message: Self.message(scanner.definitions[known.count], interface)))
    }
    let number = Int(frame.header.message)
    guard let message = known[number].message else {
      guard let migrate = options.migrate else {
        throw Self.schema(scanner.definitions[number], interface, frame.offset)
      }
      summary.migrated += 1
      guard case .call(let call) = try migrate(JournalRecord(frame, in: scanner)) else {
        return nil
      }
      return Ready(call: call, number: nil, frame: frame)
    }
    var call = known[number].spare
    known[number].spare = nil
    if call == nil {
      let made = Invocation(message.plan)
      try made.setSelector(message.selector)
      call = made
    }
    guard let call else { return nil }
    try scanner.contents(of: frame) { (reader) throws(WireError) in
      try message.read(frame, of: call, from: &reader)
    }
    return Ready(call: call, number: number, frame: frame)
  }

  /// Counts a call that was made, and stores it for reuse if no other code retained it.
  func give(back ready: consuming Ready) {
    summary.made += 1
    guard let number = ready.number, SpareInvocations.isReusable(ready.call) else { return }
    known[number].spare = ready.call
  }

  /// Counts a call that threw. Returns false if the replay ends with it.
  func goesOn(after error: any Error) -> Bool {
    summary.threw += 1
    if summary.firstError == nil { summary.firstError = "\(error)" }
    return !options.stopsAtErrors
  }

  private func wait(for time: Int64, _ speed: Double) {
    let passed = lastTime.map { time &- $0 } ?? 0
    lastTime = time
    // Does not wait if the clock was set back, and waits at most a day if it was set forward.
    delay = Int64(min(max(0, Double(passed) / speed), 86_400e9))
  }
}

extension InterfaceMessage {
  /// Sets the arguments of a call to those of a record.
  fileprivate func read(
    _ frame: JournalFrame, of call: Invocation, from reader: inout WireReader
  ) throws(WireError) {
    guard frame.kind == .outcome else {
      try readArguments(of: call, from: &reader)
      return try reader.finish()
    }
    let size = try Int(reader.uint32())
    let start = reader.offset
    try readArguments(of: call, from: &reader)
    guard reader.offset - start == size else {
      throw WireError(.tooLong(expected: size, given: reader.offset - start), at: start)
    }
    // The outcome is validated as `JournalRecord` does, so that a malformed record is not made.
    let status = try reader.byte()
    if status == 1 { _ = try reader.text(reader.left) }
    if status > 1 { throw WireError(.notBool(status), at: reader.offset - 1) }
  }
}
