// SPDX-License-Identifier: Apache-2.0
#if NATS
  import CNATS
  import ForwardingRemote
  import Invocations

  /// A subscription to a subject.
  @safe
  final class NATSSubscription: TransportSubscription, @unchecked Sendable {
    // SAFETY: the library locks the object behind the pointer, which lives until `deinit`.
    private var subscription: OpaquePointer?
    private let hasEnded = Guarded(false)

    /// Receives the library's messages. The library retains it until the subscription is complete.
    private final class Receiver: Sendable {
      let receive: @Sendable (NATSMessage) -> Void
      let isOfAnswers: Bool
      let waste = NATSWaste()
      private let completion = Guarded<(isOver: Bool, body: (@Sendable () -> Void)?)>((false, nil))
      init(_ isOfAnswers: Bool, _ receive: @escaping @Sendable (NATSMessage) -> Void) {
        (self.isOfAnswers, self.receive) = (isOfAnswers, receive)
      }

      /// Notes that the library has called the handler for the last time.
      func complete() {
        completion.withLock { completion in
          defer { completion = (true, nil) }
          return completion.body
        }?()
      }

      /// Calls a closure once the subscription is complete, or at once if it is.
      func whenCompleted(_ body: @escaping @Sendable () -> Void) {
        let isOver = completion.withLock { completion in
          if !completion.isOver { completion.body = body }
          return completion.isOver
        }
        if isOver { body() }
      }
    }
    private let receiver: Receiver
    private let process = ForkGuard()

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
      // The library retains the receiver until the last call of the handler has returned.
      unsafe natsSubscription_SetOnCompleteCB(
        made,
        { receiver in
          guard let receiver = unsafe receiver else { return }
          unsafe Unmanaged<Receiver>.fromOpaque(receiver).takeRetainedValue().complete()
        }, receiver)
      // A flood of messages must not fill the memory of this process.
      unsafe natsSubscription_SetPendingLimits(made, Self.messages, Self.bytes)
    }

    /// The most messages, and bytes, that wait to be received.
    private static let messages: Int32 = 65_536
    private static let bytes: Int32 = 64 << 20

    /// The number of messages that were dropped because of these limits.
    var dropped: Int {
      var count: Int64 = 0
      unsafe natsSubscription_GetDropped(subscription, &count)
      return Int(count)
    }

    // This also unsubscribes if that has not happened before.
    deinit { if !process.isForked { unsafe natsSubscription_Destroy(subscription) } }

    /// Calls a closure after the last message.
    func whenCompleted(_ body: @escaping @Sendable () -> Void) { receiver.whenCompleted(body) }

    /// Ends the subscription at the server, and then receives the messages that the server sent
    /// before, as their callers may wait for an answer. The caller retains the subscription
    /// meanwhile.
    func end() {
      guard isFirstToEnd else { return }
      let status = unsafe natsSubscription_DrainTimeout(subscription, Self.draining)
      if status != NATS_OK { unsafe natsSubscription_Unsubscribe(subscription) }
    }

    /// Ends the subscription, and receives no more messages.
    func stop() {
      if isFirstToEnd { unsafe natsSubscription_Unsubscribe(subscription) }
    }

    /// Whether it was ended, and may still receive messages that were sent before.
    var isEnding: Bool { hasEnded.read { $0 } }

    /// Waits until all messages that were sent before the end are received.
    func complete(within limit: Duration) {
      unsafe natsSubscription_WaitForDrainCompletion(subscription, max(1, limit.milliseconds))
    }

    private var isFirstToEnd: Bool {
      // A forked child does not send to the server.
      if process.isForked { return false }
      return hasEnded.withLock { hasEnded in
        defer { hasEnded = true }
        return !hasEnded
      }
    }

    /// The most milliseconds that the server may take to end the subscription.
    private static let draining: Int64 = 5000
  }
#endif
