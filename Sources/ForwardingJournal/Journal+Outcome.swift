// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Invocations

// Records of calls with their outcome.
extension Journal {
  /// A record that waits for the outcome of its call.
  struct OpenRecord: ~Copyable {
    fileprivate let message: InterfaceMessage
    fileprivate var writer: WireWriter
  }

  /// Encodes the arguments of a call before it is made. Refuses a call whose record can be known
  /// not to fit: there must be room for the status byte of the outcome.
  func begin(_ call: Invocation) throws(JournalError) -> OpenRecord {
    try check()
    if state.withLock({ $0.isClosed }) { throw .closed(path: path) }
    var writer = WireWriter(limit: recordLimit)
    let message = try refusing { () throws(WireError) in
      let message = try interface.message(of: call)
      try RecordHeader.reserve(in: &writer)
      try writer.append(UInt32(0))
      try message.writeArguments(of: call, to: &writer)
      writer.set(
        UInt32(writer.count - JournalFormat.recordSize - 4), at: JournalFormat.recordSize)
      let end = writer.count
      try writer.append(byte: 1)
      writer.cut(to: end)
      return message
    }
    return OpenRecord(message: message, writer: writer)
  }

  /// Records the outcome of a call. A result that cannot be encoded is recorded as an error, whose
  /// text is cut to the room that is left.
  func finish(
    _ record: inout OpenRecord, of call: Invocation, _ error: (any Error)?
  ) throws(JournalError) {
    try complete(&record, of: call, error)
    try write(&record.writer, .outcome, record.message)
  }

  /// Records the outcome of an awaited call.
  nonisolated(nonsending) func finishAwaiting(
    _ record: inout OpenRecord, of call: Invocation, _ error: (any Error)?
  ) async throws(JournalError) {
    try complete(&record, of: call, error)
    try await writeAwaiting(&record.writer, .outcome, record.message)
  }

  private func complete(
    _ record: inout OpenRecord, of call: Invocation, _ error: (any Error)?
  ) throws(JournalError) {
    try check()
    let end = record.writer.count
    try refusing { () throws(WireError) in
      if let error { return try record.append("\(error)", recordLimit) }
      do throws(WireError) {
        try record.writer.append(byte: 0)
        try record.message.writeResult(of: call, to: &record.writer)
      } catch {
        record.writer.cut(to: end)
        try record.append("the result cannot be recorded: \(error.reason)", recordLimit)
      }
    }
  }
}

extension Journal.OpenRecord {
  fileprivate mutating func append(_ text: String, _ limit: Int) throws(WireError) {
    try writer.append(byte: 1)
    // A cut in the middle of a character must not leave invalid UTF-8, or the record is unreadable.
    var bytes = Array(text.utf8.prefix(min(4096, limit - writer.count)))
    while String(validating: bytes, as: UTF8.self) == nil { bytes.removeLast() }
    try writer.append(bytes)
  }
}
