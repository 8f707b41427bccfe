// SPDX-License-Identifier: Apache-2.0
#if NATS
  import CNATS
  import ForwardingRemote

  /// A copy of a message of the library.
  struct NATSMessage: Sendable {
    let payload: [UInt8]
    /// The subject of the answer.
    let answerTo: String?
    /// The number of the request that it answers, from the last part of its subject; nil if it is
    /// not an answer.
    let number: UInt64?
    /// Whether the server reports that the request has no listener.
    let isUnheard: Bool

    @unsafe
    init(_ message: OpaquePointer, isAnswer: Bool) {
      // SAFETY: the library keeps the parts of a message until it is destroyed; all parts are
      // copied.
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
      // SAFETY: the library keeps the data until the message is destroyed; it is copied.
      guard count > 0, let data = unsafe natsMsg_GetData(message) else { return [] }
      return unsafe Array(UnsafeRawBufferPointer(start: data, count: count))
    }

    /// The number in base 36 after the last dot; nil if other characters are there.
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
        // A number that is too large wraps around, and does not match a request either.
        if isNumber { number = number &* 36 &+ UInt64(digit) }
        unsafe next += 1
      }
    }
  }
#endif
