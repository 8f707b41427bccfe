import ForwardingWire
import Invocations

// Records of calls with what became of them.
extension Journal {
  /// A record that waits for what becomes of its call.
  struct OpenRecord: ~Copyable {
    fileprivate let message: InterfaceMessage
    fileprivate var writer: WireWriter
  }

  /// Writes the arguments of a call that is not made yet. Refuses one that could not be written after it was made,
  /// as far as that is known before: there is room for a byte that says what became of it.
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

  /// Writes what became of a call. A result that cannot be written is told as an error, whose text has the room that
  /// is left.
  func finish(
    _ record: inout OpenRecord, of call: Invocation, _ error: (any Error)?
  ) throws(JournalError) {
    try complete(&record, of: call, error)
    try write(&record.writer, .outcome, record.message)
  }

  /// The same for a call that is awaited.
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
    // What is cut in the middle of a character is text again, or the record could not be read.
    var bytes = Array(text.utf8.prefix(min(4096, limit - writer.count)))
    while String(validating: bytes, as: UTF8.self) == nil { bytes.removeLast() }
    try writer.append(bytes)
  }
}
