import Dispatch
import Invocations
import Synchronization

/// One connection to another process: messages out in their order, and messages in, on a thread of its own.
///
/// The thread waits in the system for the next message and hands it on itself, so no queue and no other thread is between a
/// message and what it is for; and a message that takes long delays those of its own connection alone. A second thread
/// sends what has to wait, and begins with the first message that does.
///
///     open ──── the system refuses to send ───▶ broken: no more goes out
///      │                                           │
///      └── the end, a frame that is none, end() ───┴─▶ ended: no more comes in, either
final class SocketConnection: Sendable {
  let peer: TransportPeer
  private let descriptor: SocketDescriptor
  /// A lock of its own, as messages are sent under it: that keeps them in order.
  private let outbox = OwnLock(Outbox())
  private let patience: SocketPatience
  private let process = OwnProcess()
  private let begun = DispatchTime.now().uptimeNanoseconds
  private let wasOfUse = Atomic(false)

  private enum Stage { case open, broken, ended }

  /// Told when no more can be sent, and when no more will come.
  typealias Gone = @Sendable (SocketConnection) -> Void

  /// What waits to be sent.
  private struct Message {
    var bytes: [UInt8]
    /// The request that it is; nil for what is none.
    var request: Request?
  }

  /// A request whose message may be waiting while its time goes by, or the connection.
  struct Request {
    let number: UInt64
    let answered: AnsweredRequest
  }

  private struct Outbox {
    var stage = Stage.open
    var messages: [Message] = []
    var first = 0
    var bytes = 0
    /// What of this still uses the descriptor: the last one closes it, as its number is another file's from then on.
    var users = 1
    var isWriting = false
    /// The requests that waited when no more could be sent. Two threads tell of the end, in any order.
    var unsent: Set<UInt64> = []
    var broken: Gone?
    var ended: Gone?

    var isEmpty: Bool { first == messages.count }

    /// Lets go of the first message, and returns what it took.
    mutating func removeFirst() -> Int {
      let cost = SocketPatience.cost(of: messages[first].bytes)
      bytes -= cost
      messages[first] = Message(bytes: [])
      first += 1
      tidy()
      return cost
    }

    /// Lets go of all that waits, and returns what it took.
    mutating func removeAll() -> Int {
      for message in messages[first...] {
        if let request = message.request { unsent.insert(request.number) }
      }
      defer { (messages, first, bytes) = ([], 0, 0) }
      return bytes
    }

    /// Lets go of what was sent, also where the other end is slow and something waits at any time.
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

  /// Takes over a socket.
  init(_ descriptor: SocketDescriptor, _ patience: SocketPatience) {
    self.descriptor = descriptor
    self.patience = patience
    peer = descriptor.peer
  }

  deinit { end() }

  /// Whether a message has come over it that its owner could read.
  var isOfUse: Bool { wasOfUse.load(ordering: .relaxed) }

  /// Whether that is so, and it has been there for a while: one who says something, and hangs up, is of no use.
  var wasOfLastingUse: Bool {
    isOfUse && DispatchTime.now().uptimeNanoseconds - begun >= ConnectionPause.most
  }

  /// Notes that one has come; true for the first one.
  func noteUse() -> Bool {
    // Most are not the first, and a look costs less than a change.
    if isOfUse { return false }
    return !wasOfUse.exchange(true, ordering: .relaxed)
  }

  // MARK: In

  /// Begins to take messages, each of at most so many bytes. `broken` is called when no more can be sent, and `ended` once,
  /// when no more will come. False where the system has no thread for it.
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

  /// The requests that did not get out, where no more can be sent.
  var unsent: Set<UInt64> { outbox.withLock { $0.unsent } }

  private var isEnded: Bool { outbox.withLock { $0.stage == .ended } }

  // MARK: Out

  /// Sends a message, or lets it wait for those before it. One that is a request is not sent any more where that has ended
  /// meanwhile, and is told of where the connection has.
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
        case .full: break
        }
      }
      guard patience.keeps(bytes, beside: outbox.bytes) else { return .congested }
      outbox.messages.append(Message(bytes: bytes, request: request))
      outbox.bytes += SocketPatience.cost(of: bytes)
      begins = !outbox.isWriting
      outbox.isWriting = true
      return nil
    }
    // Whoever asks from now on waits for the next connection, before the reader has come to the end of this one.
    broken?(self)
    if begins { beginWriting() }
    if let error { throw error }
  }

  /// Sends no more. What the other side has sent is read to its end, which this one has come to then.
  private func breakOff(_ outbox: inout Outbox) {
    outbox.stage = .broken
    descriptor.shutDown()
    patience.gets(back: outbox.removeAll())
  }

  private func beginWriting() {
    let isOpen = outbox.withLock { outbox in
      if outbox.stage == .open { outbox.users += 1 }
      return outbox.stage == .open
    }
    guard isOpen else { return }
    if SystemThread.begin({ [self] in write() }) { return }
    // The system may have a thread in a while. One that is not there does not keep the descriptor of what ends meanwhile.
    leave()
    Deadlines.shared.add(in: .milliseconds(50)) { [self] in beginWriting() }
  }

  /// Sends what waits, as fast as the other side takes it, and what waits later.
  private func write() {
    while true {
      let isOpen: Bool = outbox.wait { outbox in
        if outbox.stage != .open { return false }
        // None is no end: where this did end, nobody would send what has to wait from then on.
        return outbox.isEmpty ? nil : true
      }
      guard isOpen else { break }
      // Without a message: what the end of the connection finds in the outbox was not sent.
      descriptor.waitForRoom()
      let broken: Gone? = outbox.withLock { outbox in
        for _ in 0..<Self.atATime where outbox.stage == .open && !outbox.isEmpty {
          let next = outbox.messages[outbox.first]
          if next.request?.answered.isOver != true {
            switch descriptor.send(next.bytes) {
            case .broken:
              breakOff(&outbox)
              return outbox.broken
            case .full: return nil
            // One that cannot be sent ever does not hold up those behind it.
            case .sent, .tooLarge: break
            }
          }
          patience.gets(back: outbox.removeFirst())
        }
        return nil
      }
      broken?(self)
    }
    leave()
  }

  /// How many messages are sent before others may lay theirs behind them.
  private static let atATime = 16

  /// Whether nothing waits to be sent.
  var isDrained: Bool { outbox.withLock { $0.isEmpty } }

  /// How many messages have a place in the outbox, sent or not.
  var places: Int { outbox.withLock { $0.messages.count } }

  // MARK: The end

  /// Ends what is not, or no more, in order, and tells who began it.
  func giveUp() { finish()?.ended?(self) }

  /// Takes and sends nothing more.
  func end() { _ = finish() }

  /// Comes to the last stage, and returns what was there before; nil if that was so already.
  private func finish() -> Outbox? {
    // The lock may be one that a thread of the parent had, and the socket is the parent's.
    if process.isForked { return nil }
    let before: Outbox? = outbox.announce { outbox in
      let before = outbox
      guard before.stage != .ended else { return nil }
      patience.gets(back: outbox.removeAll())
      outbox = Outbox(stage: .ended, users: outbox.users, unsent: outbox.unsent)
      // The other side learns of it now, and the thread that reads here comes to the end.
      descriptor.shutDown()
      return before
    }
    if before != nil { leave() }
    return before
  }

  /// Notes that something uses the descriptor no more.
  private func leave() {
    outbox.withLock { outbox in
      outbox.users -= 1
      if outbox.users == 0 { descriptor.close() }
    }
  }
}
