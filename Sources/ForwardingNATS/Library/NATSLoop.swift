#if NATS
  import CNATS
  import ForwardingRemote
  import Invocations
  import Synchronization

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif

  /// The thread that waits for what a server sends over one connection, and sends what nobody else has sent.
  ///
  /// The library would have a thread that reads, and no more than hands over: answers are taken here where they are
  /// read. It would send each message by itself: here those that nobody waits for are sent together.
  ///
  /// The library calls back with its lock held, so nothing here but `socket` is locked then. The order of locks is
  /// `reading`, `writing`, the library's, `socket`; none of them is a `Guarded`, as those may be one and the same.
  @safe
  final class NATSLoop: @unchecked Sendable {
    // SAFETY: the library locks what the pointer points at. This thread uses it with `reading` held, and not after
    // `end`; whoever publishes has the connection.
    @safe
    struct Socket: @unchecked Sendable {
      var number: Int32 = -1
      var connection: OpaquePointer?
    }

    let socket = OwnLock(Socket())
    private let reading = OwnLock(())
    private let writing = OwnLock(())
    let bell: Bell
    let isAttached = Atomic(false)
    let hasEnded = Atomic(false)
    /// Which thread it is: how often it was handed over, and by what the system knows it.
    private let turns = Atomic(0)
    private let thread = OwnLock<pthread_t?>(nil)
    /// Whether the library has something to send.
    let hasUnsent = Atomic(false)
    /// About how many bytes that are.
    let unsent = Atomic(0)
    /// Since when the server takes nothing, in nanoseconds; 0 where it does.
    let stalled = Atomic<UInt64>(0)
    /// Whoever publishes sees to what the library wants to send.
    let isQuiet = Atomic(false)
    /// More is about to come that may be sent along.
    private let isGathering = Atomic(false)
    private let patience: UInt64
    private let taker = Guarded<(@Sendable () -> Void)?>(nil)

    /// So much is sent at once, by whoever publishes it.
    private static let batch = 32 << 10
    /// Whoever publishes waits where more than that waits.
    private static let most = 1 << 20
    /// How long the first message of a batch waits for others, in nanoseconds: the system adds some.
    private static let gathering = 20_000

    /// - Parameter patience: how long a server may take nothing.
    init?(patience: Duration) {
      guard let bell = Bell() else { return nil }
      self.bell = bell
      self.patience = UInt64(max(1, patience.milliseconds)) * 1_000_000
    }

    /// Who takes what was read, on this thread.
    func setTaker(_ taker: (@Sendable () -> Void)?) { self.taker.withLock { $0 = taker } }

    // MARK: Sending

    /// Publishes, and sends that at once, or soon where nobody waits for it.
    func publish(
      _ bytes: Int, _ connection: OpaquePointer?, isUrgent: Bool, _ publish: () -> natsStatus
    ) -> natsStatus {
      let status = writing.withLock { _ in
        isQuiet.store(true, ordering: .sequentiallyConsistent)
        let status = publish()
        isQuiet.store(false, ordering: .sequentiallyConsistent)
        guard status == NATS_OK else { return status }
        let count = unsent.wrappingAdd(bytes, ordering: .relaxed).newValue
        if isUrgent || count > Self.batch { unsafe writeUnlessReading(connection) }
        return status
      }
      if hasUnsent.load(ordering: .sequentiallyConsistent) {
        isGathering.store(!isUrgent, ordering: .sequentiallyConsistent)
        bell.ringOnce()
      }
      guard status == NATS_OK, unsent.load(ordering: .relaxed) > Self.most else { return status }
      return unsafe waitForRoom(connection) ? NATS_OK : NATS_TIMEOUT
    }

    /// Sends what waits to be sent.
    @unsafe
    func sendAll(_ connection: OpaquePointer?) {
      writing.withLock { _ in unsafe writeUnlessReading(connection) }
    }

    /// Sends now, or has it sent as soon as the thread has read; `writing` is held. A socket that breaks is closed by the
    /// library at once, so nobody may read from it then.
    @unsafe
    private func writeUnlessReading(_ connection: OpaquePointer?) {
      let isDone: Void? = reading.withLockIfAvailable { _ in unsafe write(connection) }
      if isDone == nil { bell.ring() }
    }

    /// Sends what can be sent now; `reading` and `writing` are held. The library takes an empty buffer for the end of a connection.
    @unsafe
    private func write(_ connection: OpaquePointer?) {
      guard hasUnsent.load(ordering: .sequentiallyConsistent) else { return }
      let isStalled = stalled.load(ordering: .relaxed) != 0
      let before = isStalled ? unsafe natsConnection_Buffered(connection) : 0
      unsafe natsConnection_ProcessWriteEvent(connection)
      guard hasUnsent.load(ordering: .sequentiallyConsistent) else { return }
      let after = unsafe natsConnection_Buffered(connection)
      unsent.store(Int(after), ordering: .relaxed)
      if !isStalled || after < before { stalled.store(Self.now, ordering: .relaxed) }
    }

    /// Waits until less waits to be sent; false where the server takes nothing, and its connection is given up.
    @unsafe
    private func waitForRoom(_ connection: OpaquePointer?) -> Bool {
      let end = Self.now + patience
      while unsent.load(ordering: .relaxed) > Self.most {
        let number = socket.withLock { $0.number }
        guard number >= 0 else { return true }
        guard Self.now < end else {
          breakConnection()
          return false
        }
        bell.waitForRoom(in: number, milliseconds: 100)
        unsafe sendAll(connection)
      }
      return true
    }

    /// Ends what the socket carries: the library makes another.
    private func breakConnection() {
      socket.withLock {
        if $0.number >= 0 { _ = shutdown($0.number, Int32(SHUT_RDWR)) }
      }
    }

    static var now: UInt64 {
      var time = timespec()
      unsafe clock_gettime(CLOCK_MONOTONIC, &time)
      return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    // MARK: The thread

    func run(_ turn: Int) {
      // Whether it is this thread that sends what waits. Others that publish do so by themselves, at the same time.
      var isToSend = true
      thread.withLock { $0 = pthread_self() }
      while !hasEnded.load(ordering: .sequentiallyConsistent) {
        let (number, connection) = unsafe socket.withLock { unsafe ($0.number, $0.connection) }
        let hasRead = bell.wait(for: number, toSend: isToSend, until: deadline)
        if isGathering.exchange(false, ordering: .sequentiallyConsistent), !hasRead {
          Bell.pause(nanoseconds: Self.gathering)
        }
        reading.withLock { _ in
          guard !hasEnded.load(ordering: .sequentiallyConsistent) else { return }
          if hasRead { unsafe natsConnection_ProcessReadEvent(connection) }
          if bell.isRung.exchange(false, ordering: .sequentiallyConsistent) { isToSend = true }
          guard isToSend else { return }
          isToSend = writing.withLock { _ in
            unsafe write(connection)
            return hasUnsent.load(ordering: .sequentiallyConsistent)
          }
        }
        if hasRead { taker.read { $0 }?() }
        // Another one has gone on.
        if turns.load(ordering: .sequentiallyConsistent) != turn { return }
        if let deadline, Self.now > deadline { breakConnection() }
      }
    }

    /// Has another thread go on, where this one is about to wait for the server.
    func handOver() {
      guard thread.withLock({ $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false }) else {
        return
      }
      thread.withLock { $0 = nil }
      let turn = turns.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
      if !SystemThread.begin({ [self] in run(turn) }) {
        turns.wrappingSubtract(1, ordering: .sequentiallyConsistent)
      }
    }

    /// When a server is given up that takes nothing.
    private var deadline: UInt64? {
      let since = stalled.load(ordering: .relaxed)
      return since == 0 ? nil : since + patience
    }

    /// Closes the connection. This thread uses it no more when that returns.
    @unsafe
    func close(_ connection: OpaquePointer?) {
      handOver()
      unsafe sendAll(connection)
      // The library waits for the server where something is left, which needs this thread.
      if unsafe natsConnection_Buffered(connection) > 0 {
        unsafe natsConnection_FlushTimeout(connection, 500)
      }
      for _ in 0..<100 {
        let isClosed: Void? = reading.withLockIfAvailable { _ in
          unsafe natsConnection_Close(connection)
          hasEnded.store(true, ordering: .sequentiallyConsistent)
        }
        if isClosed != nil { return bell.ring() }
        NATSConnection.pause(.milliseconds(1))
      }
      // Half of something encrypted came, and the thread waits for the rest.
      breakConnection()
      reading.withLock { _ in
        unsafe natsConnection_Close(connection)
        hasEnded.store(true, ordering: .sequentiallyConsistent)
      }
      bell.ring()
    }
  }
#endif
