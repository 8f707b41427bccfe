// SPDX-License-Identifier: Apache-2.0
#if NATS
  import CNATS
  import ForwardingRemote
  import Invocations

  // The library's functions for a stream on the server.

  /// The first and the last record of a stream. It is empty if the last comes before the first.
  struct StreamBounds: Sendable {
    let first: UInt64
    let last: UInt64
  }

  /// A stream with one subject, over a connection that it retains.
  @safe
  final class NATSStream: @unchecked Sendable {
    // SAFETY: the library locks the object behind the pointer, which lives until `deinit`.
    private var context: OpaquePointer?
    private let connection: NATSConnection
    private let process = ForkGuard()
    let name: String
    let subject: String

    init(_ connection: NATSConnection, _ name: String) throws(StreamError) {
      self.connection = connection
      self.name = Self.escaped(name)
      // Separate from the subjects of hosts, whose names may be chosen freely.
      subject = "forwarding-journal." + self.name
      unsafe context = nil
      // The server closes the connection if a name is too long.
      let (limit, size) = (255, self.name.utf8.count)
      guard size <= limit else { throw .transport(.tooLarge(limit: limit, given: size)) }
      var made: OpaquePointer?
      let status = unsafe natsConnection_JetStream(&made, connection.pointer, nil)
      try StreamError.check(status, jsErrCode(rawValue: 0))
      unsafe context = made
    }

    deinit { if !process.isForked { unsafe jsCtx_Destroy(context) } }

    /// Checks that this process was not forked (see ``NATSConnection/check()``).
    func check() throws(StreamError) {
      do throws(TransportError) { try connection.check() } catch { throw .transport(error) }
    }

    /// Replaces each byte but ASCII letters, digits, `-` and `_` by `=` and two hexadecimal digits.
    /// `%` cannot be used, as libnats 3.4.1 prints with the name of a stream as a format.
    private static func escaped(_ name: String) -> String {
      if name.isEmpty { return "=" }
      return RemoteSubject(parts: name).name.replacing("%", with: "=")
    }

    /// Makes the stream if it does not exist.
    func make(_ options: StreamOptions) throws(StreamError) {
      do throws(StreamError) {
        _ = try bounds()
        return
      } catch {
        guard case .refused(Self.notFound, _) = error else { throw error }
      }
      // SAFETY: the texts live until the call returns, which copies them.
      let (status, code) = unsafe name.withCString { name in
        unsafe subject.withCString { subject in
          var subjects: [UnsafePointer<CChar>?] = unsafe [subject]
          return unsafe subjects.withUnsafeMutableBufferPointer { subjects in
            var settings = unsafe jsStreamConfig()
            unsafe jsStreamConfig_Init(&settings)
            unsafe settings.Name = name
            unsafe settings.Subjects = subjects.baseAddress
            unsafe settings.SubjectsLen = 1
            unsafe settings.Storage = options.isInMemory ? js_MemoryStorage : js_FileStorage
            unsafe settings.Replicas = Int64(options.replicas)
            unsafe settings.Duplicates = options.duplicateWindow.milliseconds * 1_000_000
            // The server deletes no records: it refuses records that it has no room for.
            unsafe settings.Discard = js_DiscardNew
            var code = jsErrCode(rawValue: 0)
            let status = unsafe js_AddStream(nil, context, &settings, nil, &code)
            return (status, code)
          }
        }
      }
      try StreamError.check(status, code)
    }

    /// The server's error code for a stream that does not exist.
    private static let notFound = Int(JSStreamNotFoundErr.rawValue)

    func bounds() throws(StreamError) -> StreamBounds {
      try check()
      var info: UnsafeMutablePointer<jsStreamInfo>?
      var code = jsErrCode(rawValue: 0)
      let status = unsafe js_GetStreamInfo(&info, context, name, nil, &code)
      defer { unsafe jsStreamInfo_Destroy(info) }
      try StreamError.check(status, code)
      guard let state = unsafe info?.pointee.State else { throw .transport(.failed("no stream")) }
      return unsafe StreamBounds(first: state.FirstSeq, last: state.LastSeq)
    }

    /// Adds a record, and waits until the server confirms it.
    ///
    /// - Returns: The number of the record, or that of an earlier record with the same name; and
    ///   whether there is one.
    func publish(
      _ bytes: [UInt8], id: String, within limit: Duration
    ) throws(StreamError) -> (sequence: UInt64, isDuplicate: Bool) {
      try check()
      var answer: UnsafeMutablePointer<jsPubAck>?
      var code = jsErrCode(rawValue: 0)
      // SAFETY: bytes and text live until the call returns, which copies them.
      let status = unsafe id.withCString { id in
        var options = unsafe jsPubOptions()
        unsafe jsPubOptions_Init(&options)
        unsafe options.MsgId = id
        unsafe options.MaxWait = max(1, limit.milliseconds)
        return unsafe bytes.withUnsafeBytes {
          unsafe js_Publish(
            &answer, context, subject, $0.baseAddress, Int32($0.count), &options, &code)
        }
      }
      defer { unsafe jsPubAck_Destroy(answer) }
      try StreamError.check(status, code)
      guard let answer = unsafe answer?.pointee else { throw .transport(.failed("no answer")) }
      return unsafe (answer.Sequence, answer.Duplicate)
    }

    /// Subscribes to the records from a number on.
    func subscription(from first: UInt64) throws(StreamError) -> NATSPull {
      try check()
      return try unsafe NATSPull(self, context, first)
    }
  }

  /// A subscription whose records are fetched in batches.
  @safe
  final class NATSPull {
    private var subscription: OpaquePointer?
    private let stream: NATSStream
    private let process = ForkGuard()

    @unsafe
    fileprivate init(
      _ stream: NATSStream, _ context: OpaquePointer?, _ first: UInt64
    ) throws(StreamError) {
      self.stream = stream
      unsafe subscription = nil
      var made: OpaquePointer?
      var code = jsErrCode(rawValue: 0)
      // SAFETY: the text lives until the call returns, which copies it.
      let status = unsafe stream.name.withCString { name in
        var options = unsafe jsSubOptions()
        unsafe jsSubOptions_Init(&options)
        unsafe options.Stream = name
        unsafe options.Config.DeliverPolicy = js_DeliverByStartSequence
        unsafe options.Config.OptStartSeq = max(1, first)
        unsafe options.Config.AckPolicy = js_AckNone
        // The server removes the consumer after a minute without requests.
        unsafe options.Config.InactiveThreshold = 60_000_000_000
        return unsafe js_PullSubscribe(
          &made, context, stream.subject, nil, nil, &options, &code)
      }
      try StreamError.check(status, code)
      unsafe subscription = made
    }

    deinit { if !process.isForked { unsafe natsSubscription_Destroy(subscription) } }

    /// Fetches up to `count` records. The result is empty if no record arrives in time.
    func fetch(_ count: Int, within limit: Duration) throws(StreamError) -> [StreamRecord] {
      try stream.check()
      var list = unsafe natsMsgList()
      var code = jsErrCode(rawValue: 0)
      let status = unsafe natsSubscription_Fetch(
        &list, subscription, Int32(clamping: count), max(1, limit.milliseconds), &code)
      defer { unsafe natsMsgList_Destroy(&list) }
      if status == NATS_TIMEOUT { return [] }
      try StreamError.check(status, code)
      var records: [StreamRecord] = []
      for index in 0..<Int(unsafe list.Count) {
        if let message = unsafe list.Msgs[index], let record = unsafe StreamRecord(message) {
          records.append(record)
        }
      }
      return records
    }
  }

  extension StreamRecord {
    /// Copies a record of the library; nil if the message is not a record.
    @unsafe
    fileprivate init?(_ message: OpaquePointer) {
      // SAFETY: all parts are copied before the message is destroyed.
      var facts: UnsafeMutablePointer<jsMsgMetaData>?
      guard unsafe natsMsg_GetMetaData(&facts, message) == NATS_OK, let facts = unsafe facts else {
        return nil
      }
      defer { unsafe jsMsgMetaData_Destroy(facts) }
      var id: UnsafePointer<CChar>?
      let hasID = unsafe natsMsgHeader_Get(message, "Nats-Msg-Id", &id) == NATS_OK
      unsafe self.init(
        sequence: facts.pointee.Sequence.Stream, time: facts.pointee.Timestamp,
        id: hasID ? id.map { unsafe String(cString: $0) } : nil,
        bytes: NATSMessage.payload(of: message))
    }
  }

  extension StreamError {
    /// Throws the error of a status and of the server's code.
    static func check(_ status: natsStatus, _ code: jsErrCode) throws(StreamError) {
      if status == NATS_OK { return }
      guard code.rawValue != 0 else { throw .transport(TransportError(status)) }
      let text = unsafe nats_GetLastError(nil).map { unsafe String(cString: $0) } ?? ""
      throw .refused(code: Int(code.rawValue), text)
    }
  }
#endif
