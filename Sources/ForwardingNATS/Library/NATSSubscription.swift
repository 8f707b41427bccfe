// SPDX-License-Identifier: Apache-2.0
#if NATS
  import CNATS
  import ForwardingRemote
  import Invocations

  /// The library's object of a subscription.
  @safe
  final class NATSSubscriptionObject: @unchecked Sendable {
    // SAFETY: the library locks its object, which lives until `deinit`.
    @unsafe fileprivate let pointer: OpaquePointer?
    private let process = ForkGuard()

    @unsafe fileprivate init(_ pointer: OpaquePointer?) { unsafe self.pointer = pointer }

    deinit { if !process.isForked { unsafe natsSubscription_Destroy(pointer) } }
  }

  /// A subscription to a subject. The library retains it until its last message.
  @safe
  final class NATSSubscription: TransportSubscription, Sendable {
    let subject: String
    private let receive: @Sendable (NATSMessage) -> Void
    private let completed: @Sendable (NATSSubscription) -> Void
    private let state = Guarded(State())
    private let process = ForkGuard()

    private struct State {
      /// Nil until it is made.
      var object: NATSSubscriptionObject?
      var hasEnded = false
      /// The server's permission error.
      var denial: String?
    }

    /// Makes a subscription that has not begun. `completed` is called after its last message.
    init(
      _ subject: String, _ receive: @escaping @Sendable (NATSMessage) -> Void,
      _ completed: @escaping @Sendable (NATSSubscription) -> Void
    ) {
      (self.subject, self.receive, self.completed) = (subject, receive, completed)
    }

    var object: NATSSubscriptionObject? { state.read { $0.object } }

    // SAFETY: the object is never replaced, so it lives as long as the subscription.
    @unsafe private var pointer: OpaquePointer? { unsafe object?.pointer }

    /// Begins to receive messages. Called once.
    @unsafe
    func begin(_ connection: OpaquePointer?, _ group: String?) throws(TransportError) {
      let closure = unsafe Unmanaged.passRetained(self).toOpaque()
      var made: OpaquePointer?
      let handler: natsMsgHandler = { _, _, message, closure in
        guard let message = unsafe message, let closure = unsafe closure else { return }
        let copy = unsafe NATSMessage(message)
        unsafe natsMsg_Destroy(message)
        unsafe Unmanaged<NATSSubscription>.fromOpaque(closure).takeUnretainedValue().receive(copy)
      }
      let status =
        if let group {
          unsafe natsConnection_QueueSubscribe(&made, connection, subject, group, handler, closure)
        } else {
          unsafe natsConnection_Subscribe(&made, connection, subject, handler, closure)
        }
      guard status == NATS_OK else {
        unsafe Unmanaged<NATSSubscription>.fromOpaque(closure).release()
        throw TransportError(status)
      }
      let object = unsafe NATSSubscriptionObject(made)
      // The connection may have been closed meanwhile, with all its subscriptions.
      let hasEnded = state.withLock { state in
        state.object = object
        return state.hasEnded
      }
      unsafe natsSubscription_SetOnCompleteCB(
        made,
        { closure in
          guard let closure = unsafe closure else { return }
          let known = unsafe Unmanaged<NATSSubscription>.fromOpaque(closure).takeRetainedValue()
          known.completed(known)
        }, closure)
      // A flood of messages must not fill the memory of this process.
      unsafe natsSubscription_SetPendingLimits(made, Self.messages, Self.bytes)
      if hasEnded { unsafe natsSubscription_Unsubscribe(made) }
    }

    /// The most messages, and bytes, that wait to be received.
    private static let messages: Int32 = 65_536
    private static let bytes: Int32 = 64 << 20

    /// The number of messages that were dropped because of these limits.
    var dropped: Int {
      var count: Int64 = 0
      unsafe natsSubscription_GetDropped(pointer, &count)
      return Int(count)
    }

    /// The server's permission error, which the library's thread records and clears.
    var denial: String? {
      get { state.read { $0.denial } }
      set { state.withLock { $0.denial = newValue } }
    }

    /// Ends the subscription at the server, and then receives the messages that the server sent
    /// before, as their callers may wait for an answer.
    func end() {
      guard isFirstToEnd else { return }
      let status = unsafe natsSubscription_DrainTimeout(pointer, Self.draining)
      if status != NATS_OK { unsafe natsSubscription_Unsubscribe(pointer) }
    }

    /// Ends the subscription, and receives no more messages.
    func stop() {
      if isFirstToEnd { unsafe natsSubscription_Unsubscribe(pointer) }
    }

    /// Whether it was ended, and may still receive messages that were sent before.
    var isEnding: Bool { state.read { $0.hasEnded } }

    /// Waits until all messages that were sent before the end are received.
    func complete(within limit: Duration) {
      unsafe natsSubscription_WaitForDrainCompletion(pointer, max(1, limit.milliseconds))
    }

    private var isFirstToEnd: Bool {
      // A forked child does not send to the server.
      if process.isForked { return false }
      return state.withLock { state in
        defer { state.hasEnded = true }
        return !state.hasEnded
      }
    }

    /// The most milliseconds that the server may take to end the subscription.
    private static let draining: Int64 = 5000
  }

  /// A copy of a message of the library.
  struct NATSMessage: Sendable {
    let subject: String
    let payload: [UInt8]
    /// The subject of the answer.
    let answerTo: String?
    /// Whether the server reports that a request has no listener.
    let isUnheard: Bool

    @unsafe
    init(_ message: OpaquePointer) {
      // SAFETY: the library keeps the parts of a message until it is destroyed; all are copied.
      subject = unsafe natsMsg_GetSubject(message).map { unsafe String(cString: $0) } ?? ""
      answerTo = unsafe natsMsg_GetReply(message).map { unsafe String(cString: $0) }
      let count = Int(unsafe natsMsg_GetDataLength(message))
      if count > 0, let data = unsafe natsMsg_GetData(message) {
        payload = unsafe Array(UnsafeRawBufferPointer(start: data, count: count))
      } else {
        payload = []
      }
      isUnheard = unsafe payload.isEmpty && natsMsg_IsNoResponders(message)
    }
  }
#endif
