#if NATS
  public import ForwardingRemote
  public import ForwardingWire
  import Invocations

  /// A journal of calls that a NATS server keeps, in a stream of JetStream: any number of processes add to it, and read
  /// it.
  ///
  /// ```
  /// let journal = try StreamJournal(NATSOptions("nats://127.0.0.1:4222"), stream: "bank", bank)
  /// try journal.append(deposit.invocation(5))                     // 1
  /// try journal.reader().replay(into: account)
  /// ```
  ///
  /// A record is a call as it crosses to another process, so what may be in a journal is the list of its interface. When
  /// ``append(_:id:)`` returns, the server has the record. Calls of this type wait for the server, and block their
  /// thread meanwhile.
  public final class StreamJournal: Sendable {
    /// The messages that may be in the journal.
    public let interface: Interface
    let stream: NATSStream
    let options: StreamOptions
    private let connection: NATSConnection

    /// Opens the stream of a name, and makes it if there is none.
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

    /// Adds a call, and returns its number when the server has it.
    ///
    /// While the server cannot be reached, it is tried again until the deadline. That keeps the call once, as the
    /// server knows the names of the records of the last minutes (``StreamOptions/duplicateWindow``).
    ///
    /// - Parameter id: a name for the record. Who adds a call again after an error, and does not know what became of the
    ///   first one, gives the same name. It is drawn unless given.
    @discardableResult
    public func append(_ call: Invocation, id: String? = nil) throws(StreamError) -> UInt64 {
      // Who could know the next name could take it, and so keep a call out.
      let drawn = UInt128.random(in: 0 ... .max)
      return try append(call, as: id ?? String(drawn, radix: 36), isDrawn: id == nil)
    }

    /// Adds a call. That the server has a name that was drawn is no success, unless it was sent before.
    func append(_ call: Invocation, as id: String, isDrawn: Bool) throws(StreamError) -> UInt64 {
      try stream.check()
      let bytes: [UInt8]
      do throws(WireError) { bytes = try interface.encode(call) } catch { throw .wire(error) }
      // The header with the name counts as well.
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

    /// The numbers of the first and of the last record; nil where there is none.
    public func bounds() throws(StreamError) -> ClosedRange<UInt64>? {
      let bounds = try options.trying { (_) throws(StreamError) in try stream.bounds() }
      return bounds.last >= max(1, bounds.first) ? bounds.first...bounds.last : nil
    }

    /// A reader that begins with a record, or with the first one. Each reader goes its own way.
    public func reader(from first: UInt64 = 0) -> StreamReader { StreamReader(self, first) }

    /// Ends the connection. The stream stays.
    public func close() { connection.close() }
  }

  /// How a stream is made, and how long its server is waited for.
  ///
  /// ```
  /// var options = StreamOptions()
  /// options.replicas = 3
  /// options.deadline = .seconds(30)
  /// ```
  public struct StreamOptions: Sendable {
    /// Whether the records are lost with the server; else they are in its files.
    public var isInMemory = false
    /// How many servers of a cluster have the records.
    public var replicas = 1
    /// How long the server knows the name of a record, so that it does not keep it twice.
    public var duplicateWindow: Duration = .seconds(120)
    /// How long a server that cannot be reached is waited for.
    public var deadline: Duration = .seconds(5)

    /// The usual ones.
    public init() {}

    /// Does what needs the server, again and again while that is away. The body gets how long it may wait.
    func trying<Result>(
      _ body: (Duration) throws(StreamError) -> Result
    ) throws(StreamError) -> Result {
      let end = ContinuousClock.now + deadline
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

  /// Why a stream was not written or read.
  ///
  /// ```
  /// do { try journal.append(call) } catch StreamError.refused(let code, let text) {
  ///   print(code, text)  // 10077 maximum bytes exceeded
  /// }
  /// ```
  @nonexhaustive
  public enum StreamError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The server was not reached, or not in time. Whether a record was added is open.
    case transport(TransportError)
    /// The server says no, with a number of its own.
    case refused(code: Int, String)
    /// The call is not one of the interface's.
    case wire(WireError)
    /// A record is none of the interface's, or damaged.
    case unreadable(sequence: UInt64, WireError)
    /// Records are not there any more.
    case missing(expected: UInt64, given: UInt64)

    /// Whether it may be over soon.
    var isPassing: Bool {
      switch self {
      case .transport(.interrupted), .transport(.timedOut), .transport(.nobodyListens): true
      // The stream, or JetStream itself, is not ready yet.
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
