// SPDX-License-Identifier: Apache-2.0
#if NATS
  import ForwardingRemote
  public import ForwardingWire
  import Invocations

  /// Reads a journal, and performs its calls again. A reader is used by one task at a time.
  ///
  /// ```
  /// let reader = journal.reader(from: 100)
  /// try reader.replay(into: account).made  // 17
  /// reader.next                            // 117
  /// ```
  ///
  /// Each record is performed once, even if it is delivered several times. A later reader can
  /// continue at ``next``.
  public final class StreamReader {
    /// The number of the next record; 0 before the first replay of a reader that begins with the
    /// first.
    public private(set) var next: UInt64
    private let journal: StreamJournal
    private var known = RecentNames()

    init(_ journal: StreamJournal, _ first: UInt64) {
      self.journal = journal
      next = first
    }

    /// Performs the calls in order, up to the last record that exists when this begins.
    ///
    /// - Parameters:
    ///   - target: The receiver of the calls.
    ///   - options: How to treat records that cannot be read, and calls that throw.
    /// - Returns: Counts of the records.
    /// - Throws: ``StreamError`` if the stream or a record cannot be read; errors of
    ///   ``StreamReplayOptions/migrate``; the first error of a call if
    ///   ``StreamReplayOptions/stopsAtErrors`` is set.
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

    /// Performs the calls in order, and awaits each of them, up to the last record that exists when
    /// this begins.
    ///
    /// - Parameters:
    ///   - target: The receiver of the calls.
    ///   - options: How to treat records that cannot be read, and calls that throw.
    /// - Returns: Counts of the records.
    /// - Throws: `CancellationError` if the task is cancelled, before the next call;
    ///   ``StreamError`` if the stream or a record cannot be read; errors of
    ///   ``StreamReplayOptions/migrate``; the first error of a call if
    ///   ``StreamReplayOptions/stopsAtErrors`` is set.
    @discardableResult
    public nonisolated(nonsending) func replayAwaiting(
      into target: AnyObject, _ options: StreamReplayOptions = StreamReplayOptions()
    ) async throws -> StreamSummary {
      var cursor = try Cursor(self, options)
      while true {
        // Before a record is taken, as a taken record is always performed.
        try Task.checkCancellation()
        guard let call = try cursor.next() else { break }
        do { try await call.sendAwaiting(to: target) } catch { try cursor.take(error) }
      }
      return cursor.summary
    }

    /// Iterates over the existing records in the order of their numbers.
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
          // A new subscription may deliver records again.
          if record.sequence < reader.next {
            summary.duplicates += 1
            continue
          }
          guard record.sequence == reader.next else {
            throw StreamError.missing(expected: reader.next, given: record.sequence)
          }
          guard record.id.map({ reader.known.note($0) }) ?? true else {
            summary.duplicates += 1
            pass(record)
            continue
          }
          guard let call = try call(of: record) else {
            summary.skipped += 1
            pass(record)
            continue
          }
          pass(record)
          summary.made += 1
          return call
        }
        return nil
      }

      /// Goes on behind a record, unless another replay of the reader, which a migration made, is
      /// further.
      private func pass(_ record: StreamRecord) {
        reader.next = max(reader.next, record.sequence + 1)
      }

      private func call(of record: StreamRecord) throws -> Invocation? {
        do throws(WireError) { return try reader.journal.interface.decode(record.bytes) } catch {
          do {
            guard let migrate = options.migrate else {
              throw StreamError.unreadable(sequence: record.sequence, error)
            }
            return try migrate(record, error)
          } catch {
            // The next replay reads the record again.
            if let id = record.id { reader.known.forget(id) }
            throw error
          }
        }
      }

      /// Fetches more records. The server may have removed the subscription, or be unreachable for
      /// a while.
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
          // Records exist, but do not arrive: the next attempt subscribes again, from the next
          // record.
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

  /// The names of the most recent records.
  private struct RecentNames {
    private static let count = 4096
    private var names: Set<String> = []
    private var order: [String] = []
    private var oldest = 0

    /// Records a name. Returns false if it is known.
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

  /// A record of a stream.
  ///
  /// ```
  /// options.migrate = { record, error in
  ///   print(record.sequence, record.bytes.count, error)
  ///   return nil
  /// }
  /// ```
  public struct StreamRecord: Sendable {
    /// The number of the record in the stream, from 1 on.
    public let sequence: UInt64
    /// When the server stored the record, in nanoseconds since 1970.
    public let time: Int64
    /// The name of the record, if its writer gave one.
    public let id: String?
    /// The encoded call, which may be invalid.
    public let bytes: [UInt8]
  }

  /// How the calls of a stream are performed again.
  ///
  /// ```
  /// var options = StreamReplayOptions()
  /// options.migrate = { record, error in nil }  // what cannot be read is left out
  /// ```
  public struct StreamReplayOptions {
    /// Called for a record that is damaged, or not one of the interface. Returns a call to perform
    /// instead, or nil to skip the record. If there is no closure, the replay ends with
    /// ``StreamError/unreadable(sequence:_:)``.
    public var migrate: ((StreamRecord, WireError) throws -> Invocation?)?
    /// Whether the first error that a call throws ends the replay.
    public var stopsAtErrors = false

    /// Makes options that perform all calls, even if some throw.
    public init() {}
  }

  /// The counts of a replay.
  ///
  /// ```
  /// func report(_ summary: StreamSummary) -> String { "\(summary.made) made, \(summary.threw) threw" }
  /// ```
  public struct StreamSummary: Hashable, Sendable {
    /// The number of calls performed.
    public internal(set) var made = 0
    /// The number of these calls that threw.
    public internal(set) var threw = 0
    /// The number of records that could not be read, and were skipped.
    public internal(set) var skipped = 0
    /// The number of records that were delivered again, and not performed again.
    public internal(set) var duplicates = 0
  }
#endif
