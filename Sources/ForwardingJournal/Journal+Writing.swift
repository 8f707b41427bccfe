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
    return try write(&writer, .call, message)
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
    return try await writeAwaiting(&writer, .call, message)
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

  var recordLimit: Int {
    let most = JournalFormat.maximumRecord - JournalFormat.recordSize
    return min(interface.limits.message, most) + JournalFormat.recordSize
  }

  @inline(__always)
  func refusing<Result>(
    _ body: () throws(WireError) -> Result
  ) throws(JournalError) -> Result {
    do throws(WireError) { return try body() } catch { throw .refused(error) }
  }

  /// Appends a record, and waits for the disk if the options demand it.
  @discardableResult
  func write(
    _ writer: inout WireWriter, _ kind: RecordKind, _ message: InterfaceMessage
  ) throws(JournalError) -> UInt64 {
    let time = JournalFile.now
    var appended = try append(&writer, kind, message, at: time)
    while appended == nil {
      state.wait { $0.isChanging ? nil : () }
      appended = try append(&writer, kind, message, at: time)
    }
    guard let appended else { return 0 }
    if appended.isFull { rotateFull(message) }
    switch options.sync {
    case .never: break
    case .each: try syncNow(appended.sequence)
    case .group: try wait(for: appended.sequence + 1)
    }
    return appended.sequence
  }

  /// Appends a record, suspending the task in place of blocking the thread.
  @discardableResult
  nonisolated(nonsending) func writeAwaiting(
    _ writer: inout WireWriter, _ kind: RecordKind, _ message: InterfaceMessage
  ) async throws(JournalError) -> UInt64 {
    let time = JournalFile.now
    var appended = try append(&writer, kind, message, at: time)
    while appended == nil {
      try await state.suspend(until: .unchanged) {}
      appended = try append(&writer, kind, message, at: time)
    }
    guard let appended else { return 0 }
    if appended.isFull {
      try await state.perform { () throws(JournalError) in self.rotateFull(message) }
    }
    let sequence = appended.sequence
    switch options.sync {
    case .never: break
    case .each:
      try await state.perform { () throws(JournalError) in try self.syncNow(sequence) }
    case .group: try await waitAwaiting(for: sequence + 1)
    }
    return sequence
  }

  private struct Appended {
    let sequence: UInt64
    /// Whether the file has to be rotated.
    let isFull: Bool
  }

  /// Appends a record. Returns nil while a rotation or a compaction replaces the file.
  @inline(__always)
  private func append(
    _ writer: inout WireWriter, _ kind: RecordKind, _ message: InterfaceMessage, at time: Int64
  ) throws(JournalError) -> Appended? {
    try state.withLock { (state) throws(JournalError) in
      if state.isChanging { return nil }
      let sequence = try state.append(&writer, kind, message, of: interface, at: time)
      return Appended(
        sequence: sequence,
        isFull: options.rotation.map { state.end >= max($0, state.budget) } ?? false)
    }
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
