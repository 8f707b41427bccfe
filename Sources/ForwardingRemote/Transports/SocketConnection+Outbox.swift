// SPDX-License-Identifier: Apache-2.0

extension SocketConnection {
  enum Stage { case open, broken, ended }

  /// A message that waits to be sent.
  struct Message {
    var bytes: [UInt8]
    /// The request that the message carries; nil for other messages.
    var request: Request?
  }

  /// A request that may end, or lose its connection, while its message waits.
  struct Request {
    let number: UInt64
    let answered: AnsweredRequest
  }

  struct Outbox {
    var stage = Stage.open
    var messages: [Message] = []
    var first = 0
    var bytes = 0
    /// The users of the descriptor. The last one closes it, as the system may reuse its number.
    var users = 1
    var isWriting = false
    /// The requests that waited when sending ended. Two threads report the end, in any order.
    var unsent: Set<UInt64> = []
    /// Whether any message waited then.
    var hasLost = false
    var broken: Gone?
    var ended: Gone?

    var isEmpty: Bool { first == messages.count }

    /// Removes the first message, and returns its cost.
    mutating func removeFirst() -> Int {
      let cost = SendBudget.cost(of: messages[first].bytes)
      bytes -= cost
      messages[first] = Message(bytes: [])
      first += 1
      tidy()
      return cost
    }

    /// Removes all waiting messages, and returns their cost.
    mutating func removeAll() -> Int {
      if !isEmpty { hasLost = true }
      for message in messages[first...] {
        if let request = message.request { unsent.insert(request.number) }
      }
      defer { (messages, first, bytes) = ([], 0, 0) }
      return bytes
    }

    /// Frees the entries of sent messages, even if the peer is slow and some message always waits.
    mutating func tidy() {
      if isEmpty {
        messages = []
        first = 0
      }
      guard first > 1024, first > messages.count / 2 else { return }
      messages.removeFirst(first)
      first = 0
    }
  }
}
