// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Invocations

/// A transport between processes of one machine, over a socket file that only the current user may
/// open.
///
/// One process listens at a path, and others connect to it. The kernel identifies senders
/// (``TransportPeer/process(id:user:group:)``).
///
/// ```swift
/// let path = "/tmp/forwarding-example-\(UInt32.random(in: 0 ... .max))"
/// let server = try UnixSocketTransport(listeningAt: path)
/// let client = try UnixSocketTransport(connectedTo: path)
/// client.maximumPayload  // 131072
/// client.close()
/// server.close()
/// ```
///
/// Messages of the listening process go to all connected processes; messages of a connected process
/// go to the listening one. A group exists within one process. A broken connection is restored
/// until the transport is closed.
public final class UnixSocketTransport: Transport {
  public var maximumPayload: Int { SocketFrame.mostPayload }
  let subscriptions = SubscriptionTable()
  private let observers = TransportObservers<TransportState>()
  /// Tells each connection that has ended, once all its messages have been received.
  let ends = TransportObservers<ObjectIdentifier>()
  let state = Guarded(State())
  private let path: String
  private let listening: SocketListening?
  private let process = ForkGuard()

  struct State {
    /// The connections that are being read, even if they are no longer sent to. Each has a thread.
    var connections: [SocketConnection] = []
    var requests: [UInt64: Pending] = [:]
    var number: UInt64 = 0
    var isClosed = false
  }

  /// Listens at a path. The socket file of a process that has ended is removed.
  ///
  /// - Parameters:
  ///   - path: The whole path of the socket file.
  ///   - maximumConnections: Connections beyond this number are closed at once.
  /// - Throws: ``TransportError/unreachable(_:)`` if another process listens there, or the path
  ///   cannot be used; ``TransportError/failed(_:)`` if the system has no socket or no thread.
  public convenience init(
    listeningAt path: String, maximumConnections: Int = 256
  ) throws(TransportError) {
    let listening = try SocketListening(at: path)
    self.init(path, listening)
    let limit = max(1, maximumConnections)
    let hasBegun = listening.begin { [weak self] new in
      guard let self, state.read({ $0.connections.count < limit }) else { return new.close() }
      _ = begin(SocketConnection(new))
    }
    if !hasBegun { throw .failed("the system cannot start a thread that listens") }
  }

  /// Connects to the process that listens at a path.
  ///
  /// - Parameter path: The whole path of the socket file.
  /// - Throws: ``TransportError/unreachable(_:)`` if no process of this user listens there;
  ///   ``TransportError/failed(_:)`` if the system has no socket or no thread.
  public convenience init(connectedTo path: String) throws(TransportError) {
    self.init(path, nil)
    try connect()
  }

  private init(_ path: String, _ listening: SocketListening?) {
    self.path = path
    self.listening = listening
  }

  deinit { close() }

  // MARK: Connections

  /// Connects to the path.
  ///
  /// - Throws: ``TransportError`` if no process listens there, the connection fails, belongs to
  ///   another user, or gets no thread.
  private func connect() throws(TransportError) {
    let descriptor = try SocketDescriptor.make()
    do throws(TransportError) {
      guard try descriptor.connect(to: path) else {
        throw .unreachable("\(path): no process listens there")
      }
      // Once the owner ends, anyone with access to the path may listen there. Answers of other
      // users are not trusted.
      if descriptor.isOfAnotherUser { throw .unreachable("\(path): another user listens there") }
    } catch {
      descriptor.close()
      throw error
    }
    guard begin(SocketConnection(descriptor)) else {
      throw .failed("the system cannot start a thread that reads a socket")
    }
  }

  /// Connects a client again after a pause, until there is a process to connect to. The pause is
  /// random, as many processes may have lost the same peer.
  private func reconnect() {
    Deadlines.shared.add(in: .milliseconds(.random(in: 50...100))) { [weak self] in
      guard let self, !state.read({ $0.isClosed }) else { return }
      do throws(TransportError) {
        try connect()
        observers.tell(.restored)
      } catch {
        reconnect()
      }
    }
  }

  /// Takes over a connection. Returns false if the transport is closed, or has no thread for it.
  private func begin(_ connection: SocketConnection) -> Bool {
    let isOpen = state.withLockInPlace { state in
      if !state.isClosed { state.connections.append(connection) }
      return !state.isClosed
    }
    guard isOpen else { return false }
    let hasBegun = connection.begin { [weak self] connection, bytes in
      guard let self, let frame = SocketFrame(bytes) else { return false }
      receive(frame, from: connection)
      return true
    } ended: { [weak self] connection in
      self?.lose(connection)
    }
    if !hasBegun {
      connection.end()
      remove(connection)
    }
    return hasBegun
  }

  /// Handles the end of a connection: requests that wait only for it fail, and the calls that came
  /// by it are cancelled.
  private func lose(_ connection: SocketConnection) {
    remove(connection)
    ends.tell(ObjectIdentifier(connection))
    guard listening == nil, !state.read({ $0.isClosed }) else { return }
    observers.tell(.interrupted)
    reconnect()
  }

  private func remove(_ connection: SocketConnection) {
    let numbers = state.withLockInPlace { state in
      state.connections.removeAll { $0 === connection }
      return Array(state.requests.keys)
    }
    for number in numbers { leave(number, connection, .interrupted) }
  }

  // MARK: Sending

  public func publish(_ payload: [UInt8], to subject: RemoteSubject) throws(TransportError) {
    try check(subject, payload.count)
    let connections = try state.read { (state) throws(TransportError) in try receivers(state) }
    let bytes = SocketFrame(.told, 0, subject, payload).bytes
    var failures: [TransportError] = []
    for connection in connections {
      do throws(TransportError) { try connection.send(bytes) } catch { failures.append(error) }
    }
    // A failure of one connection does not concern the others.
    if failures.count == connections.count, let error = failures.last { throw error }
  }

  public func request(
    _ payload: [UInt8], to subject: RemoteSubject,
    _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
  ) throws(TransportError) -> any TransportSubscription {
    try check(subject, payload.count)
    let request = AnsweredRequest(answered)
    let (number, connections) = try register(request)
    request.whenEnded { [weak self] request in
      self?.state.withLockInPlace { state in
        // A request that failed was removed then, and its number may be another's by now.
        if state.requests[number]?.request === request { state.requests[number] = nil }
      }
    }
    if connections.isEmpty { request.take(.failure(.nobodyListens)) }
    let bytes = SocketFrame(.asked, number, subject, payload).bytes
    for connection in connections {
      do throws(TransportError) { try connection.send(bytes) } catch {
        if listening != nil {
          leave(number, connection, error)
        } else {
          // Nothing was sent, whatever the request was told when the connection ended.
          request.end()
          throw state.read { $0.isClosed } ? .closed : error
        }
      }
    }
    return request
  }

  /// Registers a request, and returns its number and the connections that it goes to. That is one
  /// step, so the end of a connection, or closing, ends the request or comes before it.
  private func register(
    _ request: AnsweredRequest
  ) throws(TransportError) -> (UInt64, [SocketConnection]) {
    try state.withLockInPlace { (state) throws(TransportError) in
      let connections = try receivers(state)
      repeat {
        state.number = state.number % SocketFrame.lastNumber + 1
      } while state.requests[state.number] != nil
      if !connections.isEmpty {
        state.requests[state.number] = Pending(request: request, waiting: connections)
      }
      return (state.number, connections)
    }
  }

  /// The connections that a message goes to.
  private func receivers(_ state: State) throws(TransportError) -> [SocketConnection] {
    if state.isClosed { throw .closed }
    if listening == nil, state.connections.isEmpty { throw .interrupted }
    return state.connections
  }

  private func check(_ subject: RemoteSubject, _ count: Int) throws(TransportError) {
    guard count <= maximumPayload else { throw .tooLarge(limit: maximumPayload, given: count) }
    try subject.check()
  }

  // MARK: The rest

  public func subscribe(
    to subject: RemoteSubject, group: String?,
    _ receive: @escaping @Sendable (TransportMessage) -> Void
  ) throws(TransportError) -> any TransportSubscription {
    try subject.check()
    return try subscriptions.add(subject, group, receive)
  }

  public func flush(within limit: Duration) async throws(TransportError) {
    let end = ContinuousClock.now + Deadlines.bounded(limit)
    let connections = state.read { $0.connections }
    for connection in connections {
      while connection.waiting > 0 {
        guard connection.isOpen else { throw state.read { $0.isClosed } ? .closed : .interrupted }
        guard .now < end else { throw .timedOut }
        do { try await Task.sleep(for: .milliseconds(1)) } catch { throw .timedOut }
      }
    }
  }

  public func onChange(
    _ changed: @escaping @Sendable (TransportState) -> Void
  ) -> any TransportSubscription { observers.add(changed) }

  public func close() {
    // The file and the sockets belong to the parent.
    if process.isForked { return }
    let before = state.withLockInPlace { state in
      defer { state = State(isClosed: true) }
      return state
    }
    _ = subscriptions.close()
    if before.isClosed { return }
    listening?.end()
    for connection in before.connections { connection.end() }
    for pending in before.requests.values { pending.request.take(.failure(.closed)) }
    observers.tell(.closed)
  }
}
