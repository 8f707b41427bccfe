// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

// How connections change their state, as drawn in Documentation/Remote.md.
extension UnixSocketTransport {
  /// Connects to the path. Returns nil if no process listens there.
  ///
  /// - Throws: ``TransportError`` if the connection fails, belongs to another user, or gets no
  ///   thread.
  func connect(again: Bool = false) throws(TransportError) -> SocketConnection? {
    let descriptor = try SocketDescriptor.make()
    do throws(TransportError) {
      guard try descriptor.connect(to: path) else {
        descriptor.close()
        return nil
      }
      // Once the owner ends, anyone with access to the path may listen there. Answers of other
      // users are not trusted.
      if descriptor.isOfAnotherUser { throw .unreachable("\(path): another user listens there") }
    } catch {
      descriptor.close()
      throw error
    }
    let connection = SocketConnection(descriptor, budget)
    guard begin(connection, joins: again) else {
      throw .failed("the system has no thread to read a socket on")
    }
    if again { ask(connection) }
    return connection
  }

  /// How long the process at the other end may stay silent after it accepted the connection.
  private static let silence = DispatchTimeInterval.seconds(1)

  /// Sends a request to a subject that has no listener, to find out whether the peer is there. Its
  /// reply of that kind shows that it is ready. Another implementation may not reply at all, so the
  /// connection also counts as ready after a while; a peer that hangs up has done so by then.
  private func ask(_ connection: SocketConnection) {
    try? connection.send(SocketFrame(.asked, 0, "forwarding-joining", []).bytes)
    Deadlines.shared.add(in: Self.silence) { [weak self, weak connection] in
      if let self, let connection { join(connection) }
    }
  }

  /// Takes over a connection. Returns false if the transport is closed, or has no thread for it.
  @discardableResult
  func begin(_ connection: SocketConnection, joins: Bool = false) -> Bool {
    let isOpen = state.withLockInPlace { state in
      if state.isClosed { return false }
      state.reading += 1
      if joins { state.joining = connection } else { state.connections.append(connection) }
      return true
    }
    guard isOpen else { return false }
    // The peer may have another limit. Its messages beyond that of this process are refused one by
    // one.
    let size = SocketFrame.mostPayload + SocketFrame.head
    let hasBegun = connection.begin(size) { [weak self] connection, bytes in
      guard let frame = SocketFrame(bytes) else {
        guard let refusal = SocketFrame.refusal(ofFirstVersion: bytes) else {
          return connection.giveUp()
        }
        // If this does not arrive, the caller waits up to its deadline.
        try? connection.send(refusal)
        return
      }
      if connection.noteUse() { self?.join(connection) }
      self?.receive(frame, from: connection)
    } broken: { [weak self] connection in
      guard let self else { return }
      leaveOut(connection)
      for number in connection.unsent { leave(number, connection, .unsent) }
      restore(after: connection)
    } ended: { [weak self] connection in
      self?.lose(connection)
    }
    if !hasBegun {
      connection.end()
      fail(connection)
    }
    return hasBegun
  }

  /// Notes that something arrived over a connection. A restored connection may be sent to from now
  /// on. Before that, its peer may have been a process that was about to end before it accepted the
  /// connection, or to hang up.
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

  /// Stops sending over a connection; nil if nothing was sent over it. The connection may still be
  /// read to its end before another one takes its place.
  @discardableResult
  func leaveOut(_ connection: SocketConnection, isRead: Bool = true) -> SocketConnection? {
    state.withLockInPlace { state in
      if !isRead { state.reading -= 1 }
      if state.joining === connection { state.joining = nil }
      let index = state.connections.firstIndex { $0 === connection }
      return index.map { state.connections.remove(at: $0) }
    }
  }

  /// Handles the end of a connection: requests that wait only for it fail.
  private func fail(_ connection: SocketConnection) {
    leaveOut(connection, isRead: false)
    let unsent = connection.unsent
    for number in state.read({ Array($0.requests.keys) }) {
      leave(number, connection, unsent.contains(number) ? .unsent : .interrupted)
    }
  }

  /// Handles the end of a connection that was read.
  func lose(_ connection: SocketConnection) {
    fail(connection)
    ends.tell(ObjectIdentifier(connection))
    restore(after: connection)
  }

  /// The most connections of a client that are still being read when it makes another one: each has
  /// a thread, which is in a slow method.
  private static let mostRead = 8

  /// Reconnects a client that has no connection to send over. The old one may still be read
  /// meanwhile, however long its thread takes for the calls that it received.
  private func restore(after connection: SocketConnection) {
    let (isNew, begins) = state.withLockInPlace { state in
      guard listening == nil, !state.isClosed, state.connections.isEmpty, state.joining == nil
      else {
        return (false, false)
      }
      let isNew = !state.isInterrupted
      state.isInterrupted = true
      // If there are too many, the next one that ends calls this again.
      let begins = !state.isReconnecting && state.reading < Self.mostRead
      if begins { state.isReconnecting = true }
      return (isNew, begins)
    }
    if isNew { observers.tell(.interrupted) }
    if begins { reconnect(wasOfUse: connection.wasOfLastingUse) }
  }

  private func reconnect(wasOfUse: Bool) {
    let pause = state.withLockInPlace { $0.pause.after(wasOfUse: wasOfUse) }
    Deadlines.shared.add(in: pause) { [weak self] in
      guard let self, !state.read({ $0.isClosed }) else { return }
      guard let connection = try? connect(again: true) else { return reconnect(wasOfUse: false) }
      state.withLockInPlace { $0.isReconnecting = false }
      // It may have broken before that.
      restore(after: connection)
    }
  }
}
