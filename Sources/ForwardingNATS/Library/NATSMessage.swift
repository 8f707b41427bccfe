// SPDX-License-Identifier: Apache-2.0
#if NATS
  import CNATS

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
