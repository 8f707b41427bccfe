import Dispatch
import Invocations

// What becomes of connections, as Documentation/Remote.md draws it.
extension UnixSocketTransport {
  /// Connects; false if nobody listens.
  func connect(again: Bool = false) throws(TransportError) -> Bool {
    let descriptor = try SocketDescriptor.make()
    do throws(TransportError) {
      guard try descriptor.connect(to: path) else {
        descriptor.close()
        return false
      }
      // Who ends leaves the path to anybody who may write there; nobody else's answers are believed.
      if descriptor.isOfAnotherUser { throw .unreachable("\(path): another user listens there") }
    } catch {
      descriptor.close()
      throw error
    }
    let connection = SocketConnection(descriptor, patience)
    guard begin(connection, joins: again) else {
      throw .failed("the system has no thread to read a socket on")
    }
    if again { ask(connection) }
    return true
  }

  /// How long another process may be silent that has let this one in.
  private static let silence = DispatchTimeInterval.seconds(1)

  /// Asks whether somebody is there. Nobody listens to that, and the other side says so: then it is there for what is
  /// sent next. One that was written by hand may say nothing at all of what it does not know, and one that hangs up
  /// has done so after a while.
  private func ask(_ connection: SocketConnection) {
    try? connection.send(SocketFrame(.asked, 0, "forwarding-joining", []).bytes)
    Deadlines.shared.add(in: Self.silence) { [weak self, weak connection] in
      if let self, let connection { join(connection) }
    }
  }

  /// Takes over a connection; false if that cannot be.
  @discardableResult
  func begin(_ connection: SocketConnection, joins: Bool = false) -> Bool {
    let isOpen = state.withLockInPlace { state in
      if state.isClosed { return false }
      state.reading += 1
      if joins { state.joining = connection } else { state.connections.append(connection) }
      return true
    }
    guard isOpen else { return false }
    let size = maximumPayload + SocketFrame.head + SocketFrame.subject
    let hasBegun = connection.begin(size) { [weak self] connection, bytes in
      guard let frame = SocketFrame(bytes) else { return connection.giveUp() }
      if connection.noteUse() { self?.join(connection) }
      self?.receive(frame, from: connection)
    } broken: { [weak self] connection in
      self?.leaveOut(connection)
      for number in connection.unsent { self?.leave(number, connection, .unsent) }
    } ended: { [weak self] connection in
      self?.lose(connection)
    }
    if !hasBegun {
      leaveOut(connection, isRead: false)
      connection.end()
    }
    return hasBegun
  }

  /// Something has come over a connection. One that was made again may be sent to from now on: before, it may have been one
  /// that a process had not let in which was about to end, or to hang up.
  func join(_ connection: SocketConnection) {
    let isNew = state.withLockInPlace { state in
      guard state.joining === connection else { return false }
      state.joining = nil
      state.connections.append(connection)
      state.isInterrupted = false
      return true
    }
    if isNew { observers.tell(.restored) }
  }

  /// Nothing more is sent over a connection; nil if nothing was. It may be read to its end before another one takes its
  /// place.
  @discardableResult
  func leaveOut(_ connection: SocketConnection, isRead: Bool = true) -> SocketConnection? {
    state.withLockInPlace { state in
      if !isRead { state.reading -= 1 }
      if state.joining === connection { state.joining = nil }
      let index = state.connections.firstIndex { $0 === connection }
      return index.map { state.connections.remove(at: $0) }
    }
  }

  /// A connection has ended: what waits for it alone fails, and who connected does so again.
  func lose(_ connection: SocketConnection) {
    leaveOut(connection, isRead: false)
    let unsent = connection.unsent
    for number in state.read({ Array($0.requests.keys) }) {
      leave(number, connection, unsent.contains(number) ? .unsent : .interrupted)
    }
    guard listening == nil, !state.read({ $0.isClosed }) else { return }
    let isNew = state.withLockInPlace { state in
      defer { state.isInterrupted = true }
      return !state.isInterrupted
    }
    if isNew { observers.tell(.interrupted) }
    reconnect(wasOfUse: connection.wasOfLastingUse)
  }

  func reconnect(wasOfUse: Bool) {
    let pause = state.withLockInPlace { $0.pause.after(wasOfUse: wasOfUse) }
    Deadlines.shared.add(in: pause) { [weak self] in
      guard let self, !state.read({ $0.isClosed }) else { return }
      if (try? connect(again: true)) != true { reconnect(wasOfUse: false) }
    }
  }
}
