// SPDX-License-Identifier: Apache-2.0
public import ForwardingWire
import Invocations

// Replaying the calls of a journal.
extension JournalReader {
  /// Makes the calls of the journal again, in their order, from the next record on.
  ///
  /// All remaining records are read and checked first. So damage, and a message that this process
  /// does not have with the recorded types, are found before any call is made. If a value is
  /// refused, or the task is cancelled, the reader is positioned before the call that was not made.
  ///
  /// - Parameters:
  ///   - interface: the messages of this process.
  ///   - target: the receiver of the calls.
  ///   - first: the number of the first call to make; 0 for the oldest that there is.
  ///   - last: the number of the last call to make.
  ///   - failed: called after each call that failed. If it throws, the replay ends with its error;
  ///     the reader is positioned behind the call.
  /// - Returns: the number of calls that were made.
  /// - Throws: ``JournalError`` if a record cannot be read or made; without `failed`, a
  ///   ``ReplayError`` at the end if calls have failed.
  /// - Complexity: O(*n*) in the size of the journal.
  @discardableResult
  public func replay(
    _ interface: Interface, into target: AnyObject, from first: UInt64 = 0,
    through last: UInt64 = .max, failed: ((JournalRecord, any Error) throws -> Void)? = nil
  ) throws -> Int {
    let replay = try Replay(of: self, interface, first, last, failed)
    while let (call, frame) = try replay.next() {
      do {
        try replay.demandAnswer(of: target, to: call)
        try call.send(to: target)
      } catch {
        try replay.note(error, of: frame)
      }
    }
    return try replay.conclude()
  }

  /// Replays the calls into an object that conforms to the protocol of a proxy.
  @discardableResult
  public func replay<Proxy: GeneratedProxy>(
    _ interface: Interface, into target: Proxy.__Target, as proxy: Proxy.Type,
    from first: UInt64 = 0, through last: UInt64 = .max,
    failed: ((JournalRecord, any Error) throws -> Void)? = nil
  ) throws -> Int {
    try replay(
      interface, into: Proxy.__prepare(target), from: first, through: last, failed: failed)
  }

  /// Replays the calls and awaits each before the next.
  @discardableResult
  public nonisolated(nonsending) func replayAwaiting(
    _ interface: Interface, into target: AnyObject, from first: UInt64 = 0,
    through last: UInt64 = .max, failed: ((JournalRecord, any Error) throws -> Void)? = nil
  ) async throws -> Int {
    let replay = try Replay(of: self, interface, first, last, failed)
    while let (call, frame) = try replay.next() {
      do {
        try replay.demandAnswer(of: target, to: call)
        try await call.sendAwaiting(to: target)
      } catch {
        try replay.note(error, of: frame)
      }
    }
    return try replay.conclude()
  }
}

/// Prepares the calls of a replay, one after the other.
private final class Replay {
  private let reader: JournalReader
  private let interface: Interface
  private let first: UInt64
  private let failed: ((JournalRecord, any Error) throws -> Void)?
  /// The sequence number of the last call that was checked before the replay; nil if there is no
  /// call.
  private var last: UInt64?
  private var made = 0
  private var failure: ReplayError?

  /// Reads all remaining records, and throws if one cannot be read or made, or if another replay has
  /// the reader.
  init(
    of reader: JournalReader, _ interface: Interface, _ first: UInt64, _ last: UInt64,
    _ failed: ((JournalRecord, any Error) throws -> Void)?
  ) throws {
    if reader.isReplaying { throw JournalError.inUse(path: reader.path) }
    (self.reader, self.interface, self.first, self.failed) = (reader, interface, first, failed)
    reader.isReplaying = true
    try Task.checkCancellation()
    if first > 0, first < reader.first, reader.nextSequence == reader.first {
      throw JournalError.missing(offset: 0, expected: first, given: reader.first)
    }
    let ahead = reader.ahead()
    while let frame = try ahead.nextFrame(), frame.header.sequence <= last {
      try Task.checkCancellation()
      self.last = frame.header.sequence
      if frame.header.sequence >= first { _ = try message(of: frame, in: ahead) }
    }
  }

  deinit { reader.isReplaying = false }

  /// The message of a call, which this process must have with the recorded types.
  private func message(
    of frame: JournalFrame, in reader: JournalReader
  ) throws(JournalError) -> InterfaceMessage {
    let recorded = reader.scanner.definition(of: frame)
    let isOurs = recorded.interface == interface.nameBytes
    let message = isOurs ? interface.message(named: recorded.selector) : nil
    if let message, message.encodingBytes == recorded.encoding { return message }
    let name = (isOurs ? [] : recorded.interface + Array("/".utf8)) + recorded.selector
    let selector = String(decoding: name, as: UTF8.self)
    let given = String(decoding: recorded.encoding, as: UTF8.self)
    let reason = message.map {
      WireError.Reason.encoding(selector: selector, expected: $0.encoding, given: given)
    }
    throw .schema(
      offset: frame.offset, WireError(reason ?? .unknownSelector(selector), at: 0))
  }

  /// Returns the next call to make; nil at the end. An error tells which calls have failed before.
  func next() throws -> (call: Invocation, frame: JournalFrame)? {
    do { return try nextCall() } catch {
      failure?.ending = error
      throw failure ?? error
    }
  }

  private func nextCall() throws -> (call: Invocation, frame: JournalFrame)? {
    // Records written after the check, perhaps by the replayed calls, are not replayed.
    guard let last else { return nil }
    while reader.nextSequence <= last {
      try Task.checkCancellation()
      guard let frame = try reader.nextFrame() else { return nil }
      guard frame.header.sequence >= first else { continue }
      do {
        return (try call(of: frame), frame)
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

  /// Counts the call as made, or throws if the target does not answer it. A proxy without a target
  /// would take a call without a result all the same.
  func demandAnswer(of target: AnyObject, to call: Invocation) throws(InvocationError) {
    if let selector = call.selector, !Introspection.responds(target, to: selector) {
      throw .unrecognizedSelector(selector, type: SwiftType(type(of: target)), nearest: nil)
    }
    made += 1
    failure?.made = made
  }

  /// Notes that the call failed. Throws if that ends the replay.
  func note(_ error: any Error, of frame: JournalFrame) throws {
    let record = try JournalRecord(frame, in: reader.scanner)
    if let failed { return try failed(record, error) }
    if failure == nil { failure = ReplayError(made: made, record: record, first: error) }
    failure?.failed += 1
  }

  /// The number of calls that were made. Throws if calls have failed, unless `failed` was told.
  func conclude() throws -> Int {
    if let failure { throw failure }
    return made
  }
}
