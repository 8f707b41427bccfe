// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations
import Synchronization

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
  let peer: TransportPeer
  private let descriptor: SocketDescriptor
  /// A separate lock, as messages are sent while it is held, which keeps them in order.
  private let outbox = BlockingMutex(Outbox())
  private let budget: SendBudget
  private let process = ForkGuard()
  private let begun = DispatchTime.now().uptimeNanoseconds
  private let wasOfUse = Atomic(false)

  /// Called when no more can be sent, and when no more will be received.
  typealias Gone = @Sendable (SocketConnection) -> Void

  /// Takes over a connected socket.
  init(_ descriptor: SocketDescriptor, _ budget: SendBudget) {
    self.descriptor = descriptor
    self.budget = budget
    peer = descriptor.peer
  }

  deinit { end() }

  /// Whether a valid message has arrived over the connection.
  var isOfUse: Bool { wasOfUse.load(ordering: .relaxed) }

  /// Whether that is so, and the connection is a second old: a peer that sends and hangs up is of
  /// no use.
  var wasOfLastingUse: Bool {
    isOfUse && DispatchTime.now().uptimeNanoseconds - begun >= ConnectionPause.most
  }

  /// Notes that a valid message arrived. Returns true for the first one.
  func noteUse() -> Bool {
    // Most messages are not the first, and a load is cheaper than an exchange.
    if isOfUse { return false }
    return !wasOfUse.exchange(true, ordering: .relaxed)
  }

  // MARK: In

  /// Starts to receive messages of at most `size` bytes. `broken` is called when no more can be
  /// sent, `ended` once when no more will be received. Returns false if the system has no thread
  /// for it.
  func begin(
    _ size: Int,
    _ received: @escaping @Sendable (SocketConnection, ArraySlice<UInt8>) -> Void,
    broken: @escaping Gone = { _ in },
    ended: @escaping Gone
  ) -> Bool {
    let isOpen = outbox.withLock { outbox in
      outbox.broken = broken
      outbox.ended = ended
      if outbox.stage != .ended { outbox.users += 1 }
      return outbox.stage != .ended
    }
    guard isOpen else { return true }
    let hasBegun = SystemThread.begin { [self] in
      var room = SocketDescriptor.room(of: size)
      while let count = descriptor.receive(into: &room), !isEnded {
        received(self, room[..<count])
      }
      giveUp()
      leave()
    }
    if !hasBegun { leave() }
    return hasBegun
  }

  /// The requests that were not sent before sending ended.
  var unsent: Set<UInt64> { outbox.withLock { $0.unsent } }

  private var isEnded: Bool { outbox.withLock { $0.stage == .ended } }

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
          broken = outbox.broken
          breakOff(&outbox)
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

  /// Stops sending. Messages that the peer has sent are still read; then the reader finds the end.
  private func breakOff(_ outbox: inout Outbox) {
    outbox.stage = .broken
    descriptor.shutDown()
    budget.release(outbox.removeAll())
  }

  private func beginWriting() {
    let isOpen = outbox.withLock { outbox in
      if outbox.stage == .open { outbox.users += 1 }
      return outbox.stage == .open
    }
    guard isOpen else { return }
    if SystemThread.begin({ [self] in write() }) { return }
    // The system may have a thread later. Until then the descriptor is not kept open.
    leave()
    Deadlines.shared.add(in: .milliseconds(50)) { [self] in beginWriting() }
  }

  /// Sends waiting messages as fast as the peer takes them, until the connection breaks.
  private func write() {
    while true {
      let isOpen: Bool = outbox.wait { outbox in
        if outbox.stage != .open { return false }
        // An empty outbox does not end the thread, as it also sends messages that are queued later.
        return outbox.isEmpty ? nil : true
      }
      guard isOpen else { break }
      // The message stays in the outbox meanwhile, so that it counts as unsent if the connection
      // ends.
      descriptor.waitForRoom()
      var isWithoutMemory = false
      let broken: Gone? = outbox.withLock { outbox in
        for _ in 0..<Self.atATime where outbox.stage == .open && !outbox.isEmpty {
          let next = outbox.messages[outbox.first]
          if next.request?.answered.isOver != true {
            switch descriptor.send(next.bytes) {
            case .broken:
              breakOff(&outbox)
              return outbox.broken
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
    leave()
  }

  /// How many messages are sent before the lock is released, so that others can queue theirs.
  private static let atATime = 16

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
    let before: Outbox? = outbox.announce { outbox in
      let before = outbox
      guard before.stage != .ended else { return nil }
      budget.release(outbox.removeAll())
      outbox = Outbox(
        stage: .ended, users: outbox.users, unsent: outbox.unsent, hasLost: outbox.hasLost)
      // The peer notices the end at once, and the reading thread here comes to its end.
      descriptor.shutDown()
      return before
    }
    if before != nil { leave() }
    return before
  }

  /// Counts a user of the descriptor out.
  private func leave() {
    outbox.withLock { outbox in
      outbox.users -= 1
      if outbox.users == 0 { descriptor.close() }
    }
  }
}
