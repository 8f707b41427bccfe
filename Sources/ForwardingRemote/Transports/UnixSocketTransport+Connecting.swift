// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

// How connections change their state, as drawn in Documentation/Remote.md.
extension UnixSocketTransport {
  /// Connects to the path. Returns nil if no process listens there.
  ///
  /// - Throws: ``TransportError`` if the connection fails, belongs to another user, or gets no
  ///   thread.
  func connect() throws(TransportError) -> SocketConnection? {
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
    guard begin(connection) else { throw .failed("the system has no thread to read a socket on") }
    return connection
  }

  /// Takes over a connection. Returns false if the transport is closed, or has no thread for it.
  @discardableResult
  func begin(_ connection: SocketConnection) -> Bool {
    let before: (isClosed: Bool, isInterrupted: Bool) = state.withLockInPlace { state in
      let before = (state.isClosed, state.isInterrupted)
      if state.isClosed { return before }
      state.reading += 1
      state.connections.append(connection)
      state.isInterrupted = false
      return before
    }
    if before.isClosed { return false }
    // The peer may have another limit. Its messages beyond that of this process are refused one by
    // one.
    let size = SocketFrame.mostPayload + SocketFrame.head
    let hasBegun = connection.begin(size) { [weak self] connection, bytes in
      guard let frame = SocketFrame(bytes) else { return connection.giveUp() }
      self?.receive(frame, from: connection)
    } broken: { [weak self] connection in
      self?.stopSending(connection)
    } ended: { [weak self] connection in
      self?.lose(connection)
      self?.reconnect()
    }
    if !hasBegun {
      connection.end()
      lose(connection)
    } else if before.isInterrupted {
      observers.tell(.restored)
    }
    return hasBegun
  }

  /// Stops sending over a connection. What has arrived over it is still read, and answered requests
  /// have their answers.
  private func stopSending(_ connection: SocketConnection) {
    let isInterrupted = state.withLockInPlace { state in
      state.connections.removeAll { $0 === connection }
      guard listening == nil, !state.isClosed, !state.isInterrupted else { return false }
      state.isInterrupted = true
      return true
    }
    for number in connection.unsent { leave(number, connection, .unsent) }
    if isInterrupted { observers.tell(.interrupted) }
  }

  /// Handles the end of a connection: requests that wait only for it fail, and the calls that came
  /// by it are cancelled.
  private func lose(_ connection: SocketConnection) {
    stopSending(connection)
    let numbers = state.withLockInPlace { state in
      state.reading -= 1
      if connection.hasLasted { state.pause = Self.firstPause }
      // A request that is being sent may not have been sent over this one; its sender will know.
      return state.requests.filter { !$0.value.isBeingSent }.map(\.key)
    }
    for number in numbers { leave(number, connection, .interrupted) }
    ends.tell(ObjectIdentifier(connection))
  }

  static let firstPause = 10

  /// Connects a client again after a pause: at most 10 ms at first, then twice as long each time, up
  /// to a second, until a connection has lasted a second. The pause is at least half of that, at
  /// random, as many processes may have lost the same peer.
  private func reconnect() {
    guard listening == nil else { return }
    let pause = state.withLockInPlace { state in
      defer { state.pause = min(2 * state.pause, 1000) }
      return state.pause
    }
    Deadlines.shared.add(in: .milliseconds(.random(in: pause / 2...pause))) { [weak self] in
      guard let self, !state.read({ $0.isClosed }) else { return }
      do throws(TransportError) {
        if try connect() == nil { reconnect() }
      } catch {
        reconnect()
      }
    }
  }
}
