import Dispatch
import Invocations

/// One connection to another process: messages out in their order, and messages in, on a queue of its own.
final class SocketConnection: Sendable {
  let peer: TransportPeer
  private let descriptor: SocketDescriptor
  private let queue = DispatchQueue(label: "forwarding.socket")
  private let outbox = Guarded(Outbox())
  private let patience: SocketPatience
  private let sources: Sources
  private let process = OwnProcess()
  /// Those of a parent: its queues cannot be used to end them, and they must not go before their end.
  private static let kept = Guarded<[Sources]>([])
  private let ended = Guarded<(@Sendable (SocketConnection) -> Void)?>(nil)

  private struct Outbox {
    var messages: [[UInt8]] = []
    var first = 0
    var bytes = 0
    var isEnded = false

    var isEmpty: Bool { first == messages.count }

    /// Lets go of what was sent, also where the other end is slow and something waits at any time.
    mutating func tidy() {
      guard first > 1024, first > messages.count / 2 else { return }
      messages.removeFirst(first)
      first = 0
    }
  }

  /// What waits for the system. One that waits for nothing is suspended, and must not be let go so.
  private struct Sources: @unchecked Sendable {
    // SAFETY: sources may be resumed and cancelled from any thread; resumed and suspended under the lock.
    let reading: any DispatchSourceRead
    let writing: any DispatchSourceWrite
  }

  /// Takes over a socket.
  init(_ descriptor: SocketDescriptor, _ patience: SocketPatience) {
    self.descriptor = descriptor
    self.patience = patience
    peer = descriptor.peer
    sources = Sources(
      reading: DispatchSource.makeReadSource(fileDescriptor: descriptor.number, queue: queue),
      writing: DispatchSource.makeWriteSource(fileDescriptor: descriptor.number, queue: queue))
    // The number is another file's as soon as it is closed: when neither source looks at it any more.
    let group = DispatchGroup()
    group.enter()
    group.enter()
    sources.reading.setCancelHandler { group.leave() }
    sources.writing.setCancelHandler { group.leave() }
    group.notify(queue: queue) { descriptor.close() }
    // Until something waits to be sent.
    sources.writing.suspend()
  }

  deinit { if process.isForked { Self.kept.withLock { $0.append(sources) } } else { end() } }

  /// Begins to take messages. `ended` is called once, when there will be no more.
  func begin(
    _ rooms: ReadingRooms, _ received: @escaping @Sendable (SocketConnection, [UInt8]) -> Void,
    ended: @escaping @Sendable (SocketConnection) -> Void
  ) {
    self.ended.withLock { $0 = ended }
    sources.reading.setEventHandler { [weak self] in
      guard let self else { return }
      var room = rooms.take()
      defer { rooms.giveBack(room) }
      // Not for ever, as who writes waits for the same queue.
      for _ in 0..<64 {
        switch descriptor.receive(into: &room) {
        case .message(let bytes): received(self, bytes)
        case .nothing: return
        case .ended: return giveUp()
        }
      }
    }
    sources.writing.setEventHandler { [weak self] in
      if let self, !drain() { giveUp() }
    }
    sources.reading.activate()
    sources.writing.activate()
  }

  /// Sends a message, or lets it wait for those before it.
  func send(_ bytes: [UInt8]) throws(TransportError) {
    if process.isForked { throw .forked }
    let error: TransportError? = outbox.withLockInPlace { outbox in
      if outbox.isEnded { return .interrupted }
      if outbox.isEmpty {
        switch descriptor.send(bytes) {
        case .sent: return nil
        case .broken: return .interrupted
        case .tooLarge: return .tooLarge(limit: descriptor.room, given: bytes.count)
        case .full: break
        }
      }
      guard patience.keeps(bytes, beside: outbox.bytes) else { return .congested }
      if outbox.isEmpty { sources.writing.resume() }
      outbox.messages.append(bytes)
      outbox.bytes += SocketPatience.cost(of: bytes)
      return nil
    }
    if let error { throw error }
  }

  /// Whether nothing waits to be sent.
  var isDrained: Bool { outbox.read { $0.isEmpty } }

  /// How many messages have a place in the outbox, sent or not.
  var places: Int { outbox.read { $0.messages.count } }

  /// Sends what waits; false if the other end is gone.
  private func drain() -> Bool {
    outbox.withLockInPlace { outbox in
      while !outbox.isEmpty, !outbox.isEnded {
        switch descriptor.send(outbox.messages[outbox.first]) {
        case .broken: return false
        case .full:
          outbox.tidy()
          return true
        // One that cannot be sent ever does not hold up those behind it.
        case .sent, .tooLarge:
          let cost = SocketPatience.cost(of: outbox.messages[outbox.first])
          outbox.bytes -= cost
          patience.gets(back: cost)
          outbox.messages[outbox.first] = []
          outbox.first += 1
        }
      }
      outbox.messages = []
      outbox.first = 0
      if !outbox.isEnded { sources.writing.suspend() }
      return true
    }
  }

  /// Ends what is not, or no more, in order, and tells who began it.
  func giveUp() { if end() { ended.read { $0 }?(self) } }

  /// Takes and sends nothing more; false if that was so before.
  @discardableResult
  func end() -> Bool {
    outbox.withLockInPlace { outbox in
      if outbox.isEnded { return false }
      let wasWaiting = !outbox.isEmpty
      patience.gets(back: outbox.bytes)
      outbox = Outbox(isEnded: true)
      sources.reading.cancel()
      sources.writing.cancel()
      // Only what runs is ever told that it was cancelled.
      sources.reading.activate()
      sources.writing.activate()
      if !wasWaiting { sources.writing.resume() }
      return true
    }
  }
}

/// Where messages are written to when they come. Connections share them, as most of them are silent at any time.
final class ReadingRooms: Sendable {
  private let size: Int
  private let free = Guarded<[[UInt8]]>([])

  init(_ size: Int) { self.size = size }

  func take() -> [UInt8] {
    free.withLockInPlace { $0.popLast() } ?? [UInt8](repeating: 0, count: size)
  }

  func giveBack(_ room: [UInt8]) {
    free.withLockInPlace { if $0.count < 4 { $0.append(room) } }
  }
}
