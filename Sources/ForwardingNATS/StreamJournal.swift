// SPDX-License-Identifier: Apache-2.0
#if NATS
  public import ForwardingRemote
  public import ForwardingWire
  import Invocations

  /// A journal of calls in a JetStream stream of a NATS server. Any number of processes add to it
  /// and read it.
  ///
  /// ```
  /// let journal = try StreamJournal(NATSOptions("nats://127.0.0.1:4222"), stream: "bank", bank)
  /// try journal.append(deposit.invocation(5))                     // 1
  /// try journal.reader().replay(into: account)
  /// ```
  ///
  /// A record is an encoded call, so the interface defines which calls the journal may contain.
  /// When ``append(_:id:)`` returns, the server has stored the record. Functions of this type block
  /// their thread until the server answers.
  public final class StreamJournal: Sendable {
    /// The messages that the journal may contain.
    public let interface: Interface
    let stream: NATSStream
    let options: StreamOptions
    private let connection: NATSConnection

    /// Opens the stream of a name, and makes it if it does not exist.
    ///
    /// - Parameters:
    ///   - server: The address of the server.
    ///   - name: The name of the stream.
    ///   - interface: The messages that the journal may contain.
    ///   - options: How to make the stream, and how long to wait for the server.
    /// - Throws: ``StreamError/transport(_:)`` if the server cannot be reached or the name is too
    ///   long; ``StreamError/refused(code:_:)`` if the server refuses.
    public init(
      _ server: NATSOptions, stream name: String, _ interface: Interface,
      _ options: StreamOptions = StreamOptions()
    ) throws(StreamError) {
      self.interface = interface
      self.options = options
      do throws(TransportError) {
        connection = try NATSConnection(server, keepsUnsent: true) { _ in
        } denied: { _ in
        }
      } catch {
        throw .transport(error)
      }
      stream = try NATSStream(connection, name)
      let stream = stream
      try options.trying { (_) throws(StreamError) in try stream.make(options) }
    }

    /// Adds a call, and returns its number once the server has stored it.
    ///
    /// While the server cannot be reached, this tries again until the deadline. The call is still
    /// stored only once, as the server knows the names of the records of the last minutes
    /// (``StreamOptions/duplicateWindow``).
    ///
    /// - Parameters:
    ///   - call: The call, which must be one of the interface.
    ///   - id: The name of the record; nil for a random name. To add a call again after an error
    ///     that leaves open whether it was stored, use the same name.
    /// - Returns: The number of the record, or of the first record with the same `id`.
    /// - Throws: ``StreamError/wire(_:)`` if the interface does not have the message;
    ///   ``StreamError/transport(_:)`` if the server cannot be reached or the call is too long;
    ///   ``StreamError/refused(code:_:)`` if the server refuses.
    @discardableResult
    public func append(_ call: Invocation, id: String? = nil) throws(StreamError) -> UInt64 {
      // Random, so that no other writer can take the name first and thereby keep a call out.
      let drawn = UInt128.random(in: 0 ... .max)
      return try append(call, as: id ?? String(drawn, radix: 36), isDrawn: id == nil)
    }

    /// Adds a call. If the server already has a record with a random name before the first attempt,
    /// that is an error.
    func append(_ call: Invocation, as id: String, isDrawn: Bool) throws(StreamError) -> UInt64 {
      try stream.check()
      let bytes: [UInt8]
      do throws(WireError) { bytes = try interface.encode(call) } catch { throw .wire(error) }
      // The header with the name counts towards the limit.
      let (limit, size) = (connection.maximumPayload, bytes.count + id.utf8.count + 64)
      guard size <= limit else { throw .transport(.tooLarge(limit: limit, given: size)) }
      var isNew = isDrawn
      return try options.trying { (limit) throws(StreamError) in
        let isFirst = isNew
        isNew = false
        let (sequence, isDuplicate) = try stream.publish(bytes, id: id, within: limit)
        if isFirst, isDuplicate { throw .transport(.failed("another record has the name \(id)")) }
        return sequence
      }
    }

    /// The numbers of the first and the last record; nil if the journal is empty.
    ///
    /// - Throws: ``StreamError`` if the server cannot be reached or refuses.
    public func bounds() throws(StreamError) -> ClosedRange<UInt64>? {
      let bounds = try options.trying { (_) throws(StreamError) in try stream.bounds() }
      return bounds.last >= max(1, bounds.first) ? bounds.first...bounds.last : nil
    }

    /// Makes a reader that begins with a record; 0 for the first. Readers are independent of each
    /// other.
    public func reader(from first: UInt64 = 0) -> StreamReader { StreamReader(self, first) }

    /// Closes the connection. The stream remains.
    public func close() { connection.close() }
  }

  /// How a stream is made, and how long to wait for its server.
  ///
  /// ```
  /// var options = StreamOptions()
  /// options.replicas = 3
  /// options.deadline = .seconds(30)
  /// ```
  public struct StreamOptions: Sendable {
    /// Whether the records are only in the server's memory; otherwise they are in its files.
    public var isInMemory = false
    /// The number of servers in a cluster that store the records.
    public var replicas = 1
    /// How long the server remembers the name of a record, to recognize a repetition.
    public var duplicateWindow: Duration = .seconds(120)
    /// How long to try again while the server cannot be reached.
    public var deadline: Duration = .seconds(5)

    /// Makes the default options.
    public init() {}

    /// Repeats an operation while the server cannot be reached. The closure gets its time limit.
    func trying<Result>(
      _ body: (Duration) throws(StreamError) -> Result
    ) throws(StreamError) -> Result {
      let end = ContinuousClock.now + Deadlines.bounded(deadline)
      while true {
        let left = end - ContinuousClock.now
        do throws(StreamError) {
          return try body(max(.milliseconds(1), min(left, .seconds(1))))
        } catch {
          guard error.isPassing, ContinuousClock.now < end else { throw error }
        }
        NATSConnection.pause(.milliseconds(20))
      }
    }
  }

  /// Why a stream could not be written or read.
  ///
  /// ```
  /// do { try journal.append(call) } catch StreamError.refused(let code, let text) {
  ///   print(code, text)  // 10077 maximum bytes exceeded
  /// }
  /// ```
  @nonexhaustive
  public enum StreamError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The server was not reached in time. A record may or may not have been added.
    case transport(TransportError)
    /// The server refused, with a code of its own.
    case refused(code: Int, String)
    /// The call is not one of the interface.
    case wire(WireError)
    /// A record is damaged, or not one of the interface.
    case unreadable(sequence: UInt64, WireError)
    /// Records no longer exist.
    case missing(expected: UInt64, given: UInt64)

    /// Whether the error may be temporary.
    var isPassing: Bool {
      switch self {
      case .transport(.interrupted), .transport(.timedOut), .transport(.nobodyListens): true
      // The stream, or JetStream as a whole, is not ready yet.
      case .refused(let code, _): code == 10008
      default: false
      }
    }

    public var description: String {
      switch self {
      case .transport(let error): "\(error)"
      case .refused(let code, let text): "the server refuses: \(text) (\(code))"
      case .wire(let error): "\(error)"
      case .unreadable(let sequence, let error): "record \(sequence) cannot be read: \(error)"
      case .missing(let expected, let given):
        "record \(expected) is missing: the next one is \(given)"
      }
    }
  }
#endif
