// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

/// A connection to another process: it sends messages in order, and receives messages on a thread.
///
/// The reading thread blocks in the kernel and passes each message on directly. So no queue and no
/// other thread delays a message, and a message that takes long delays only its own connection. A
/// second thread sends messages that have to wait; it starts with the first of them.
///
///     open ──── the system refuses to send ───▶ broken: sends no more
///      │                                           │
///      └── end of file, a bad frame, end() ────────┴─▶ ended: receives no more, either
final class SocketConnection: Sendable {
  /// A request that may end, or lose its connection, while its message waits.
  struct Request {
    let number: UInt64
    let answered: AnsweredRequest
  }

  /// Called when no more can be sent, and when no more will be received.
  typealias Gone = @Sendable (SocketConnection) -> Void

  private enum Stage { case open, broken, ended }

  /// A message that waits to be sent.
  private struct Message {
    var bytes: [UInt8]
    /// The request that the message carries; nil for other messages.
    var request: Request?
  }

  private struct Outbox {
    var stage = Stage.open
    var messages: [Message] = []
    var first = 0
    var bytes = 0
    var isWriting = false
    /// The requests that waited when sending ended.
    var unsent: Set<UInt64> = []
    /// Whether any message waited then.
    var hasLost = false
    var broken: Gone?
    var ended: Gone?

    var isEmpty: Bool { first == messages.count }

    /// Removes the first message, and returns its cost. Frees the entries of sent messages, even if
    /// the peer is slow and some message always waits.
    mutating func removeFirst() -> Int {
      let cost = SendBudget.cost(of: messages[first].bytes)
      bytes -= cost
      messages[first] = Message(bytes: [])
      first += 1
      if isEmpty || first > 1024 && first > messages.count / 2 {
        messages.removeFirst(first)
        first = 0
      }
      return cost
    }

    /// Removes all waiting messages, and returns their cost.
    mutating func removeAll() -> Int {
      if !isEmpty { hasLost = true }
      for case let request? in messages[first...].map(\.request) { unsent.insert(request.number) }
      defer { (messages, first, bytes) = ([], 0, 0) }
      return bytes
    }
  }

  let peer: TransportPeer
  private let descriptor: SocketDescriptor
  /// Messages are sent while it is held, which keeps them in order.
  private let outbox = BlockingMutex(Outbox())
  private let budget: SendBudget
  private let process = ForkGuard()
  private let begun = DispatchTime.now()

  /// Takes over a connected socket.
  init(_ descriptor: SocketDescriptor, _ budget: SendBudget) {
    self.descriptor = descriptor
    self.budget = budget
    peer = descriptor.peer
  }

  deinit {
    end()
    // No thread uses it any more. In a forked child, its number may belong to another file.
    if !process.isForked { descriptor.close() }
  }

  /// Whether the connection is a second old.
  var hasLasted: Bool { .now() >= begun + .seconds(1) }

  // MARK: In

  /// Starts to receive messages of at most `size` bytes. `broken` is called when no more can be
  /// sent, `ended` once when no more will be received. Returns false if the system has no thread
  /// for it.
  func begin(
    _ size: Int, _ received: @escaping @Sendable (SocketConnection, ArraySlice<UInt8>) -> Void,
    broken: @escaping Gone = { _ in }, ended: @escaping Gone
  ) -> Bool {
    let isOpen = outbox.withLock { outbox in
      outbox.broken = broken
      outbox.ended = ended
      return outbox.stage != .ended
    }
    guard isOpen else { return true }
    return SystemThread.begin { [self] in
      var room = SocketDescriptor.room(of: size)
      while let count = descriptor.receive(into: &room), !isEnded {
        received(self, room[..<count])
      }
      giveUp()
    }
  }

  /// The requests that were not sent before sending ended.
  var unsent: Set<UInt64> { outbox.withLock { $0.unsent } }

  /// Whether nothing more is received or sent.
  var isEnded: Bool { outbox.withLock { $0.stage == .ended } }

  // MARK: Out

  /// Sends a message, or queues it behind others. A queued request is not sent if it ends before,
  /// and is part of ``unsent`` if the connection breaks before.
  func send(_ bytes: [UInt8], as request: Request? = nil) throws(TransportError) {
    if process.isForked { throw .forked }
    var broken: Gone?
    var begins = false
    let error: TransportError? = outbox.announce { outbox in
      guard outbox.stage == .open else { return .interrupted }
      if outbox.isEmpty {
        switch descriptor.send(bytes) {
        case .sent: return nil
        case .broken:
          broken = breakOff(&outbox)
          return .interrupted
        case .tooLarge: return .tooLarge(limit: descriptor.room, given: bytes.count)
        case .full, .noMemory: break
        }
      }
      guard budget.reserve(bytes, beside: outbox.bytes) else { return .congested }
      outbox.messages.append(Message(bytes: bytes, request: request))
      outbox.bytes += SendBudget.cost(of: bytes)
      begins = !outbox.isWriting
      outbox.isWriting = true
      return nil
    }
    // From here on requests wait for the next connection, even if this one is still being read.
    broken?(self)
    if begins { beginWriting() }
    if let error { throw error }
  }

  /// Stops sending, and returns the closure to call. Messages that the peer has sent are still
  /// read; then the reader finds the end.
  private func breakOff(_ outbox: inout Outbox) -> Gone? {
    guard outbox.stage == .open else { return nil }
    outbox.stage = .broken
    descriptor.shutDown()
    budget.release(outbox.removeAll())
    return outbox.broken
  }

  private func beginWriting() {
    if SystemThread.begin({ [self] in write() }) { return }
    // The system may have a thread later.
    Deadlines.shared.add(in: .milliseconds(50)) { [weak self] in self?.beginWriting() }
  }

  /// Sends waiting messages as fast as the peer takes them, until the connection breaks.
  private func write() {
    while true {
      let isOpen: Bool = outbox.wait { outbox in
        if outbox.stage != .open { return false }
        // An empty outbox does not end the thread, as it also sends messages that are queued later.
        return outbox.isEmpty ? nil : true
      }
      guard isOpen else { return }
      // The message stays in the outbox meanwhile, so that it counts as unsent if the connection
      // ends.
      descriptor.waitForRoom()
      var isWithoutMemory = false
      let broken: Gone? = outbox.withLock { outbox in
        // A few at a time, so that others can queue theirs.
        for _ in 0..<16 where outbox.stage == .open && !outbox.isEmpty {
          let next = outbox.messages[outbox.first]
          if next.request?.answered.isOver != true {
            switch descriptor.send(next.bytes) {
            case .broken: return breakOff(&outbox)
            case .full: return nil
            case .noMemory:
              isWithoutMemory = true
              return nil
            // A message that is too large to be sent does not block those behind it.
            case .sent, .tooLarge: break
            }
          }
          budget.release(outbox.removeFirst())
        }
        return nil
      }
      broken?(self)
      // Other code may free some; the send buffer would not say so.
      if isWithoutMemory { SocketDescriptor.rest(milliseconds: 10) }
    }
  }

  /// Whether no message waits to be sent.
  var isDrained: Bool { outbox.withLock { $0.isEmpty } }

  /// Whether messages waited to be sent when sending ended.
  var hasLost: Bool { outbox.withLock { $0.hasLost } }

  /// How many messages have a place in the outbox, sent or not.
  var places: Int { outbox.withLock { $0.messages.count } }

  // MARK: The end

  /// Ends the connection after a failure, and calls the `ended` closure.
  func giveUp() { finish()?.ended?(self) }

  /// Ends the connection: nothing more is received or sent.
  func end() { _ = finish() }

  /// Enters the last stage, and returns the outbox before that; nil if it had already ended.
  private func finish() -> Outbox? {
    // In a forked child, a thread of the parent may hold the lock, and the socket is the parent's.
    if process.isForked { return nil }
    return outbox.announce { outbox in
      let before = outbox
      guard before.stage != .ended else { return nil }
      budget.release(outbox.removeAll())
      outbox = Outbox(stage: .ended, unsent: outbox.unsent, hasLost: outbox.hasLost)
      // The peer notices the end at once, and the reading thread here comes to its end.
      descriptor.shutDown()
      return before
    }
  }
}
