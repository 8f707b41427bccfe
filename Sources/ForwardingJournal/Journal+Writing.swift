// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Invocations

// Appending records, and waiting for the disk.
extension Journal {
  /// Records a call of one of the interface's messages without forwarding it.
  ///
  /// - Returns: the sequence number of the record. The record is in the file then, and on the disk
  ///   if ``JournalOptions/sync`` demands it.
  /// - Throws: ``JournalError/refused(_:)`` if the interface does not allow the call or it cannot
  ///   be encoded, ``JournalError/closed(path:)``, ``JournalError/forked(path:)`` in a forked
  ///   child, ``JournalError/displaced(path:)``, ``JournalError/system(_:path:code:)`` if the disk
  ///   fails, and ``JournalError/tooManyMessages(limit:)``.
  @discardableResult
  public func record(_ call: Invocation) throws(JournalError) -> UInt64 {
    try check()
    var writer = WireWriter(limit: recordLimit)
    let message = try write(call, to: &writer)
    let (definition, time) = (Definition(interface, message), JournalFile.now)
    let appended = try state.wait { (state) throws(JournalError) in
      try append(&writer, definition, at: time, to: &state)
    }
    if appended.isFull { rotateFull(message) }
    if options.sync == .group { try wait(for: appended.sequence + 1) }
    return appended.sequence
  }

  /// Records a call as `record(_:)` does. The task is suspended while the journal waits for the
  /// disk, so no thread is blocked.
  ///
  /// A task that is cancelled meanwhile resumes when the record is on the disk, because the record
  /// cannot be taken back.
  ///
  /// - Returns: the sequence number of the record.
  /// - Throws: the errors of `record(_:)`.
  @discardableResult
  public nonisolated(nonsending) func recordAwaiting(
    _ call: Invocation
  ) async throws(JournalError) -> UInt64 {
    try check()
    var writer = WireWriter(limit: recordLimit)
    let message = try write(call, to: &writer)
    let (definition, time) = (Definition(interface, message), JournalFile.now)
    var appended: Appended?
    while appended == nil {
      appended = try state.withLock { (state) throws(JournalError) in
        try append(&writer, definition, at: time, to: &state)
      }
      if appended == nil {
        try await perform { self.state.wait { $0.isChanging ? nil : () } }
      }
    }
    guard let appended else { return 0 }
    if appended.isFull {
      try await perform { self.rotateFull(message) }
    }
    if options.sync == .group {
      try await perform { () throws(JournalError) in try self.wait(for: appended.sequence + 1) }
    }
    return appended.sequence
  }

  /// Copies a record of another journal, with its time and the next number of this one. Whether the
  /// interface allows its message is not checked.
  package func copy(_ record: JournalRecord) throws(JournalError) {
    try check()
    var writer = WireWriter(limit: JournalFormat.maximumRecord)
    do throws(WireError) {
      try RecordHeader.reserve(in: &writer)
      try writer.append(record.arguments)
    } catch {
      throw .refused(error)
    }
    _ = try state.wait { (state) throws(JournalError) in
      try append(&writer, record.definition, at: record.time, to: &state)
    }
  }

  /// Encodes a call, after reserving space for the record header.
  private func write(
    _ call: Invocation, to writer: inout WireWriter
  ) throws(JournalError) -> InterfaceMessage {
    do throws(WireError) {
      let message = try interface.message(of: call)
      try RecordHeader.reserve(in: &writer)
      try message.writeArguments(of: call, to: &writer)
      return message
    } catch {
      throw .refused(error)
    }
  }

  /// The size of the longest record that leaves room for the definition of its message.
  private var recordLimit: Int {
    let most =
      JournalFormat.maximumRecord - JournalFormat.recordSize - JournalFormat.maximumDefinition
    return min(interface.limits.message, most) + JournalFormat.recordSize
  }

  private struct Appended {
    let sequence: UInt64
    /// Whether the file has to be rotated.
    let isFull: Bool
  }

  /// Appends a record. Returns nil while a rotation replaces the file.
  @inline(__always)
  private func append(
    _ writer: inout WireWriter, _ definition: Definition, at time: Int64,
    to state: inout JournalState
  ) throws(JournalError) -> Appended? {
    if state.isChanging { return nil }
    let sequence = try state.append(&writer, definition, at: time)
    return Appended(
      sequence: sequence,
      isFull: options.rotation.map { state.end >= max($0, state.budget) } ?? false)
  }

  /// Rotates a full file. A failure is reported and not thrown, because the call is recorded and
  /// must be made. The rotation is retried when the file has grown by an eighth of its size limit.
  private func rotateFull(_ message: InterfaceMessage) {
    let size = options.rotation ?? 0
    do throws(JournalError) { try rotate(ifAtLeast: size) } catch {
      state.withLock { $0.budget = $0.end + max(4096, size / 8) }
      EventReports.reportFailure(message.selector, Journal.self, error)
    }
  }
}
