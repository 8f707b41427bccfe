#if NATS
  import ForwardingRemote
  public import ForwardingWire
  import Invocations

  /// Reads a journal that a server keeps, and makes its calls again. For one task at a time.
  ///
  /// ```
  /// let reader = journal.reader(from: 100)
  /// try reader.replay(into: account).made  // 17
  /// reader.next                            // 117
  /// ```
  ///
  /// Each record is performed once, however often it is delivered. ``next`` is where a later reader goes on.
  public final class StreamReader {
    /// The number of the record that comes next; 0 for the first there is.
    public private(set) var next: UInt64
    private let journal: StreamJournal
    private var known = RecentNames()

    init(_ journal: StreamJournal, _ first: UInt64) {
      self.journal = journal
      next = first
    }

    /// Makes the calls again, in their order, up to the last one that there is when this begins.
    @discardableResult
    public func replay(
      into target: AnyObject, _ options: StreamReplayOptions = StreamReplayOptions()
    ) throws -> StreamSummary {
      var cursor = try Cursor(self, options)
      while let call = try cursor.next() {
        do { try call.send(to: target) } catch { try cursor.take(error) }
      }
      return cursor.summary
    }

    /// The same for calls that are awaited, one after the other.
    @discardableResult
    public nonisolated(nonsending) func replayAwaiting(
      into target: AnyObject, _ options: StreamReplayOptions = StreamReplayOptions()
    ) async throws -> StreamSummary {
      var cursor = try Cursor(self, options)
      while true {
        // Before a record is taken, which is then made in any case.
        try Task.checkCancellation()
        guard let call = try cursor.next() else { break }
        do { try await call.sendAwaiting(to: target) } catch { try cursor.take(error) }
      }
      return cursor.summary
    }

    /// Goes through what there is, in the order of the numbers.
    private struct Cursor {
      let reader: StreamReader
      let options: StreamReplayOptions
      let last: UInt64
      var summary = StreamSummary()
      var pull: NATSPull?
      var records: ArraySlice<StreamRecord> = []

      init(_ reader: StreamReader, _ options: StreamReplayOptions) throws(StreamError) {
        (self.reader, self.options) = (reader, options)
        let bounds = try reader.journal.bounds()
        last = bounds?.upperBound ?? 0
        guard let first = bounds?.lowerBound else { return }
        if reader.next == 0 { reader.next = first }
        guard reader.next >= first else {
          throw .missing(expected: reader.next, given: first)
        }
      }

      mutating func next() throws -> Invocation? {
        while reader.next <= last, last > 0 {
          guard let record = records.popFirst() else {
            try fetch()
            continue
          }
          // Delivered again, by a subscription that was made anew.
          if record.sequence < reader.next {
            summary.duplicates += 1
            continue
          }
          guard record.sequence == reader.next else {
            throw StreamError.missing(expected: reader.next, given: record.sequence)
          }
          guard record.id.map({ reader.known.note($0) }) ?? true else {
            summary.duplicates += 1
            reader.next += 1
            continue
          }
          guard let call = try call(of: record) else {
            summary.skipped += 1
            reader.next += 1
            continue
          }
          reader.next += 1
          summary.made += 1
          return call
        }
        return nil
      }

      private func call(of record: StreamRecord) throws -> Invocation? {
        do throws(WireError) { return try reader.journal.interface.decode(record.bytes) } catch {
          do {
            guard let migrate = options.migrate else {
              throw StreamError.unreadable(sequence: record.sequence, error)
            }
            return try migrate(record, error)
          } catch {
            // The next replay reads it again.
            if let id = record.id { reader.known.forget(id) }
            throw error
          }
        }
      }

      /// Fetches more. The server may forget who reads, or be away for a while.
      private mutating func fetch() throws(StreamError) {
        let (stream, next) = (reader.journal.stream, reader.next)
        let count = Int(clamping: min(256, last - next + 1))
        var pull = pull
        defer { self.pull = pull }
        records = try reader.journal.options.trying { (limit) throws(StreamError) in
          do throws(StreamError) {
            let current: NATSPull
            if let pull { current = pull } else { current = try stream.subscription(from: next) }
            pull = current
            let found = try current.fetch(count, within: limit)
            guard found.isEmpty else { return found[...] }
          } catch {
            pull = nil
            throw error
          }
          // Records are there, and do not come: it is begun anew, from the next one.
          pull = nil
          throw .transport(.timedOut)
        }
      }

      mutating func take(_ error: any Error) throws {
        summary.threw += 1
        if options.stopsAtErrors { throw error }
      }
    }
  }

  /// The names of the records that came last.
  private struct RecentNames {
    private static let count = 4096
    private var names: Set<String> = []
    private var order: [String] = []
    private var oldest = 0

    /// Notes a name; false if it is known.
    mutating func note(_ name: String) -> Bool {
      guard names.insert(name).inserted else { return false }
      if order.count < Self.count {
        order.append(name)
      } else {
        names.remove(order[oldest])
        order[oldest] = name
        oldest = (oldest + 1) % Self.count
      }
      return true
    }

    mutating func forget(_ name: String) { names.remove(name) }
  }

  /// One call in a stream.
  ///
  /// ```
  /// options.migrate = { record, error in
  ///   print(record.sequence, record.bytes.count, error)
  ///   return nil
  /// }
  /// ```
  public struct StreamRecord: Sendable {
    /// Its number in the stream, from 1 on.
    public let sequence: UInt64
    /// When the server got it, in nanoseconds since 1970 began.
    public let time: Int64
    /// Its name, if its writer gave one.
    public let id: String?
    /// The call as it crosses, if it is one.
    public let bytes: [UInt8]
  }

  /// How the calls of a stream are made again.
  ///
  /// ```
  /// var options = StreamReplayOptions()
  /// options.migrate = { record, error in nil }  // what cannot be read is left out
  /// ```
  public struct StreamReplayOptions {
    /// What to make of a record that is none of the interface's, or damaged: a call that is made in its place, or nil
    /// for none. Without this, the replay ends there, with ``StreamError/unreadable(sequence:_:)``.
    public var migrate: ((StreamRecord, WireError) throws -> Invocation?)?
    /// Whether the first error that a call throws ends the replay.
    public var stopsAtErrors = false

    /// All calls, whatever they throw.
    public init() {}
  }

  /// What a replay did.
  ///
  /// ```
  /// func report(_ summary: StreamSummary) -> String { "\(summary.made) made, \(summary.threw) threw" }
  /// ```
  public struct StreamSummary: Hashable, Sendable {
    /// How many calls were made.
    public internal(set) var made = 0
    /// How many of them threw.
    public internal(set) var threw = 0
    /// How many records could not be read, and were left out.
    public internal(set) var skipped = 0
    /// How many records came a second time, and were not performed again.
    public internal(set) var duplicates = 0
  }
#endif
