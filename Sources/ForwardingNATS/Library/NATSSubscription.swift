#if NATS
  import CNATS
  import ForwardingRemote
  import Invocations

  /// Who listens to a subject.
  @safe
  final class NATSSubscription: TransportSubscription, @unchecked Sendable {
    // SAFETY: the library locks what it points at, which is there until `deinit`.
    private var subscription: OpaquePointer?
    private let hasEnded = Guarded(false)

    /// What the library calls with messages: its own until it says that there will be no more.
    private final class Receiver: Sendable {
      let receive: @Sendable (NATSMessage) -> Void
      let isOfAnswers: Bool
      let waste = NATSWaste()
      let completed = Guarded<(@Sendable () -> Void)?>(nil)
      init(_ isOfAnswers: Bool, _ receive: @escaping @Sendable (NATSMessage) -> Void) {
        (self.isOfAnswers, self.receive) = (isOfAnswers, receive)
      }
    }
    private let receiver: Receiver
    private let process = OwnProcess()

    @unsafe
    init(
      _ connection: OpaquePointer?, _ subject: String, _ group: String?, isOfAnswers: Bool,
      _ receive: @escaping @Sendable (NATSMessage) -> Void
    ) throws(TransportError) {
      self.receiver = Receiver(isOfAnswers, receive)
      unsafe subscription = nil
      let receiver = unsafe Unmanaged.passRetained(self.receiver).toOpaque()
      var made: OpaquePointer?
      let handler: natsMsgHandler = { _, _, message, receiver in
        guard let message = unsafe message, let receiver = unsafe receiver else { return }
        let known = unsafe Unmanaged<Receiver>.fromOpaque(receiver).takeUnretainedValue()
        let copy = unsafe NATSMessage(message, isAnswer: known.isOfAnswers)
        unsafe known.waste.take(message)
        known.receive(copy)
      }
      let status =
        if let group {
          unsafe natsConnection_QueueSubscribe(
            &made, connection, subject, group, handler, receiver)
        } else {
          unsafe natsConnection_Subscribe(&made, connection, subject, handler, receiver)
        }
      guard status == NATS_OK else {
        unsafe Unmanaged<Receiver>.fromOpaque(receiver).release()
        throw TransportError(status)
      }
      unsafe subscription = made
      // What a handler has is let go when the last one is over.
      unsafe natsSubscription_SetOnCompleteCB(
        made,
        { receiver in
          guard let receiver = unsafe receiver else { return }
          let kept = unsafe Unmanaged<Receiver>.fromOpaque(receiver).takeRetainedValue()
          kept.completed.withLock { completed in
            defer { completed = nil }
            return completed
          }?()
        }, receiver)
      // Whoever floods this process does not fill its memory.
      unsafe natsSubscription_SetPendingLimits(made, Self.messages, Self.bytes)
    }

    /// The most that may wait to be taken.
    private static let messages: Int32 = 65_536
    private static let bytes: Int32 = 64 << 20

    /// How many messages came when more than that waited.
    var dropped: Int {
      var count: Int64 = 0
      unsafe natsSubscription_GetDropped(subscription, &count)
      return Int(count)
    }

    // It unsubscribes, if nothing else has.
    deinit { if !process.isForked { unsafe natsSubscription_Destroy(subscription) } }

    /// Calls a closure when the last message was received.
    func whenCompleted(_ body: @escaping @Sendable () -> Void) {
      receiver.completed.withLock { $0 = body }
    }

    /// Ends it at the server, and then takes what that had sent before: somebody may wait for an answer. Whoever ends it
    /// keeps it meanwhile.
    func end() {
      guard isFirstToEnd else { return }
      let status = unsafe natsSubscription_DrainTimeout(subscription, Self.draining)
      if status != NATS_OK { unsafe natsSubscription_Unsubscribe(subscription) }
    }

    /// Takes nothing more, from now on.
    func stop() {
      if isFirstToEnd { unsafe natsSubscription_Unsubscribe(subscription) }
    }

    /// Whether it has ended, and may receive what had been sent before.
    var isEnding: Bool { hasEnded.read { $0 } }

    /// Waits until all was received that had been sent before the end.
    func complete(within limit: Duration) {
      unsafe natsSubscription_WaitForDrainCompletion(subscription, max(1, limit.milliseconds))
    }

    private var isFirstToEnd: Bool {
      // The server does not hear a child process.
      if process.isForked { return false }
      return hasEnded.withLock { hasEnded in
        defer { hasEnded = true }
        return !hasEnded
      }
    }

    /// The most milliseconds that the server may take for the end.
    private static let draining: Int64 = 5000
  }
#endif
