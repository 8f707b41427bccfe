#if NATS
  import CNATS
  import ForwardingRemote
  import Invocations

  /// A message as the library gave it.
  struct NATSMessage: Sendable {
    let payload: [UInt8]
    /// Where an answer goes.
    let answerTo: String?
    /// Which request it answers: the last part of its subject. Nil where it is no answer.
    let number: UInt64?
    /// Whether it is the server's word that nobody listens.
    let isUnheard: Bool

    @unsafe
    init(_ message: OpaquePointer, isAnswer: Bool) {
      // SAFETY: the library keeps what it gives until the message is destroyed; all is copied.
      payload = unsafe Self.payload(of: message)
      if isAnswer {
        answerTo = nil
        number = unsafe natsMsg_GetSubject(message).flatMap { unsafe Self.number($0) }
        isUnheard = unsafe payload.isEmpty && natsMsg_IsNoResponders(message)
      } else {
        answerTo = unsafe natsMsg_GetReply(message).map { unsafe String(cString: $0) }
        number = nil
        isUnheard = false
      }
    }

    @unsafe
    static func payload(of message: OpaquePointer) -> [UInt8] {
      let count = Int(unsafe natsMsg_GetDataLength(message))
      // SAFETY: as above.
      guard count > 0, let data = unsafe natsMsg_GetData(message) else { return [] }
      return unsafe Array(UnsafeRawBufferPointer(start: data, count: count))
    }

    /// The digits of base 36 behind the last dot; nil where something else is there.
    @unsafe
    private static func number(_ subject: UnsafePointer<CChar>) -> UInt64? {
      var (number, isNumber) = (UInt64(0), false)
      var next = unsafe subject
      while true {
        let byte = UInt8(bitPattern: unsafe next.pointee)
        let digit: UInt8
        switch byte {
        case 0: return isNumber ? number : nil
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "."): (number, isNumber, digit) = (0, true, 0)
        default: (number, isNumber, digit) = (0, false, 0)
        }
        // What is no number of this process wraps around, and is none then either.
        if isNumber { number = number &* 36 &+ UInt64(digit) }
        unsafe next += 1
      }
    }
  }

  /// Answers, one after the other, for one request at a time: the library does not say to which it is that nobody
  /// listens.
  @safe
  final class NATSQueue: @unchecked Sendable {
    // SAFETY: the library locks what it points at, which is there until `deinit`.
    private var subscription: OpaquePointer?
    private let receive: @Sendable (NATSMessage?) -> Void
    private let waste = NATSWaste()
    private let process = OwnProcess()

    /// - Parameter receive: gets what came, and nil for that nobody listens.
    @unsafe
    init(
      _ connection: OpaquePointer?, _ subject: String,
      _ receive: @escaping @Sendable (NATSMessage?) -> Void
    ) throws(TransportError) {
      self.receive = receive
      unsafe subscription = nil
      var made: OpaquePointer?
      try TransportError.check(
        unsafe natsConnection_SubscribeSync(&made, connection, subject))
      unsafe subscription = made
      unsafe natsSubscription_SetPendingLimits(made, 65_536, 64 << 20)
    }

    deinit { if !process.isForked { unsafe natsSubscription_Destroy(subscription) } }

    /// Takes what came; it waits for nothing.
    func take() {
      var count: UInt64 = 0
      while unsafe natsSubscription_QueuedMsgs(subscription, &count) == NATS_OK, count > 0 {
        var message: OpaquePointer?
        let status = unsafe natsSubscription_NextMsg(&message, subscription, 0)
        // It was said once that some were dropped.
        if status == NATS_SLOW_CONSUMER { continue }
        if status == NATS_NO_RESPONDERS {
          receive(nil)
          continue
        }
        guard status == NATS_OK, let message = unsafe message else { return }
        let copy = unsafe NATSMessage(message, isAnswer: true)
        unsafe waste.take(message)
        receive(copy)
      }
    }

    /// How many came when too many waited.
    var dropped: Int {
      var count: Int64 = 0
      unsafe natsSubscription_GetDropped(subscription, &count)
      return Int(count)
    }

    /// Takes nothing more.
    func stop() { if !process.isForked { unsafe natsSubscription_Unsubscribe(subscription) } }
  }
#endif
