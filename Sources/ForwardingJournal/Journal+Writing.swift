// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ForwardingWire
import Invocations

// Appending records.
extension Journal {
  /// Records a call of one of the interface's messages without forwarding it.
  ///
  /// - Returns: the sequence number of the record. The record is in the file then, and on the disk
  ///   if ``JournalOptions/sync`` demands it.
  /// - Throws: ``JournalError/refused(_:)`` if the interface does not allow the call or it cannot
  ///   be encoded, and other errors if the journal is closed or the disk fails.
  @discardableResult
  public func record(_ call: Invocation) throws(JournalError) -> UInt64 {
    let sequence = try append(call)
    if options.sync == .group { try wait(for: sequence + 1) }
    return sequence
  }

  /// Records a call, and suspends the task while a thread of the journal waits for the disk: Swift's
  /// pool has few threads, and all of them could block otherwise.
  ///
  /// The tasks wait one after the other. So the first one waits for all records that were written by
  /// then, and those behind it continue at once. A task that is cancelled meanwhile resumes when the
  /// record is on the disk, because the record cannot be taken back.
  nonisolated(nonsending) func recordAwaiting(_ call: Invocation) async throws(JournalError) {
    let sequence = try append(call)
    if options.sync == .never { return }
    try await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume(
          returning: Result { () throws(JournalError) in try self.wait(for: sequence + 1) })
      }
    }.get()
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
    _ = try append(&writer, record.definition, at: record.time)
  }

  private func append(_ call: Invocation) throws(JournalError) -> UInt64 {
    try check()
    // The longest record leaves room for the definition of its message.
    let most =
      JournalFormat.maximumRecord - JournalFormat.recordSize - JournalFormat.maximumDefinition
    var writer = WireWriter(
      limit: min(interface.limits.message, most) + JournalFormat.recordSize)
    let message: InterfaceMessage
    do throws(WireError) {
      message = try interface.message(of: call)
      try RecordHeader.reserve(in: &writer)
      try message.writeArguments(of: call, to: &writer)
    } catch {
      throw .refused(error)
    }
    return try append(&writer, Definition(interface, message), at: JournalFile.now)
  }

  /// Appends a record. A full file is rotated before.
  @inline(__always)
  private func append(
    _ writer: inout WireWriter, _ definition: Definition, at time: Int64
  ) throws(JournalError) -> UInt64 {
    try state.wait(until: syncEnded) { (state) throws(JournalError) -> Waiting<UInt64> in
      if state.isFull {
        // The sync needs this file.
        if state.isSyncing { return .until(.max) }
        try state.rotate()
      }
      return .done(try state.append(&writer, definition, at: time))
    }
  }
}
