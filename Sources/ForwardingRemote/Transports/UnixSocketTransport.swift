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
public final class UnixSocketTransport: ConnectionsTransport {
  public let maximumPayload: Int
  let subscriptions = SubscriptionTable()
  let observers = TransportObservers()
  let ends = Observers<ObjectIdentifier>()
  let state = Guarded(State())
  let path: String
  let listening: SocketListening?
  let budget = SendBudget()
  private let process = ForkGuard()

  struct State {
    var connections: [SocketConnection] = []
    var requests: [UInt64: Pending] = [:]
    var number: UInt64 = 0
    var isClosed = false
    /// Whether the interruption was reported, which happens once for each loss of the connection.
    var isInterrupted = false
    /// The longest pause before the next attempt to connect, in milliseconds.
    var pause = UnixSocketTransport.firstPause
    /// The connections that are being read, including those that are no longer sent to. Each has a
    /// thread.
    var reading = 0
  }

  /// Listens at a path. The socket file of a process that has ended is removed.
  ///
  /// - Parameters:
  ///   - path: The path of the socket file. If it is relative, the current folder is that of this
  ///     moment.
  ///   - maximumPayload: The most bytes of a message, limited to between 1 and 160 KB. Larger ones
  ///     are not sent, and refused when a peer with another limit sends them.
  ///   - maximumConnections: Connections beyond this number are closed at once.
  /// - Throws: ``TransportError/unreachable(_:)`` if another process listens there, or the path
  ///   cannot be used; ``TransportError/failed(_:)`` if the system has no socket or no thread.
  public convenience init(
    listeningAt path: String, maximumPayload: Int = 128 << 10, maximumConnections: Int = 256
  ) throws(TransportError) {
    let descriptor = try SocketDescriptor.make()
    let path = SocketDescriptor.wholePath(path)
    do throws(TransportError) {
      let lock = try SocketLock(for: path)
      defer { lock.end() }
      if try descriptor.connect(to: path) {
        throw .unreachable("\(path): a process listens there already")
      }
      SocketDescriptor.remove(SocketDescriptor.File(at: path), at: path)
      try descriptor.listen(at: path)
    } catch {
      descriptor.close()
      throw error
    }
    self.init(path, maximumPayload, descriptor)
    let limit = max(1, maximumConnections)
    let hasBegun = listening?.begin { [weak self] new in
      guard let self, state.read({ $0.reading < limit }) else { return new.close() }
      begin(SocketConnection(new, budget))
    }
    if hasBegun == false {
      close()
      throw .failed("the system has no thread to listen on")
    }
  }

  /// Connects to the process that listens at a path.
  ///
  /// - Parameters:
  ///   - path: The path of the socket file. If it is relative, the current folder is that of this
  ///     moment.
  ///   - maximumPayload: The most bytes of a message, limited to between 1 and 160 KB. Larger ones
  ///     are not sent, and refused when a peer with another limit sends them.
  /// - Throws: ``TransportError/unreachable(_:)`` if no process of this user listens there;
  ///   ``TransportError/failed(_:)`` if the system has no socket or no thread.
  public convenience init(
    connectedTo path: String, maximumPayload: Int = 128 << 10
  ) throws(TransportError) {
    self.init(SocketDescriptor.wholePath(path), maximumPayload, nil)
    guard try connect() != nil else { throw .unreachable("\(path): no process listens there") }
  }

  private init(_ path: String, _ maximumPayload: Int, _ descriptor: SocketDescriptor?) {
    self.path = path
    self.maximumPayload = min(max(1024, maximumPayload), SocketFrame.mostPayload)
    listening = descriptor.map { SocketListening($0, at: path) }
  }

  deinit { close() }

  // MARK: Sending

  public func publish(_ payload: [UInt8], to subject: RemoteSubject) throws(TransportError) {
    let listeners = try listeners(to: subject, payload.count)
    let connections = try state.read { (state) throws(TransportError) in try receivers(state) }
    let bytes = SocketFrame(.told, 0, subject, payload).bytes
    var failures: [TransportError] = []
    for connection in connections {
      do throws(TransportError) { try connection.send(bytes) } catch { failures.append(error) }
    }
    for listener in listeners {
      listener.receive(TransportMessage(payload: payload, sender: .thisProcess, answer: nil))
    }
    // A failure of one connection does not concern the others.
    if listeners.isEmpty, failures.count == connections.count, let error = failures.last {
      throw error
    }
  }

  public func request(
    _ payload: [UInt8], to subject: RemoteSubject,
    _ answered: @escaping @Sendable (Result<[UInt8], TransportError>) -> Void
  ) throws(TransportError) -> any TransportRequest {
    let listeners = try listeners(to: subject, payload.count)
    let request = AnsweredRequest(answered)
    let (number, connections) = try register(request, isHeardHere: !listeners.isEmpty)
    request.whenEnded { [weak self] request in
      self?.state.withLockInPlace { state in
        // A request that failed was removed then, and its number may be another's by now.
        if state.requests[number]?.request === request { state.requests[number] = nil }
      }
    }
    let bytes = connections.isEmpty ? [] : SocketFrame(.asked, number, subject, payload).bytes
    for connection in connections {
      do throws(TransportError) {
        try connection.send(bytes, as: .init(number: number, answered: request))
      } catch {
        leave(number, connection, error == .interrupted ? .unsent : error)
      }
    }
    leave(number, nil, nil)
    for connection in connections where connection.isEnded {
      leave(number, connection, .interrupted)
    }
    for listener in listeners {
      listener.receive(
        TransportMessage(payload: payload, sender: .thisProcess) { request.take(.success($0)) })
    }
    return request
  }

  /// Registers a request, and returns its number and the connections that it goes to. That is one
  /// step, so closing either ends the request or comes before it.
  private func register(
    _ request: AnsweredRequest, isHeardHere: Bool
  ) throws(TransportError) -> (UInt64, [SocketConnection]) {
    try state.withLockInPlace { (state) throws(TransportError) in
      let connections = try receivers(state)
      repeat {
        state.number = state.number % SocketFrame.lastNumber + 1
      } while state.requests[state.number] != nil
      state.requests[state.number] = Pending(
        request: request, waiting: connections, isHeardHere: isHeardHere)
      return (state.number, connections)
    }
  }

  /// The connections that a message goes to.
  private func receivers(_ state: State) throws(TransportError) -> [SocketConnection] {
    if state.isClosed { throw .closed }
    if listening == nil, state.connections.isEmpty { throw .interrupted }
    return state.connections
  }

  /// The listeners of this process, once it is certain that the message may be sent.
  private func listeners(
    to subject: RemoteSubject, _ count: Int
  ) throws(TransportError) -> [SubscriptionTable.Listener] {
    if process.isForked { throw .forked }
    guard count <= maximumPayload else { throw .tooLarge(limit: maximumPayload, given: count) }
    try subject.check()
    return try subscriptions.listeners(to: subject.number)
  }

  // MARK: The rest

  public func subscribe(
    to subject: RemoteSubject, group: String?,
    _ receive: @escaping @Sendable (TransportMessage) -> Void
  ) throws(TransportError) -> any TransportSubscription {
    if process.isForked { throw .forked }
    try subject.check()
    return try subscriptions.add(subject, group, receive)
  }

  public func flush(within limit: Duration) async throws(TransportError) {
    if process.isForked { throw .forked }
    let end = ContinuousClock.now + Deadlines.bounded(limit)
    let connections = state.read { $0.connections }
    while !connections.allSatisfy(\.isDrained) {
      guard ContinuousClock.now < end else { throw .timedOut }
      do { try await OneShot.pause(until: .now() + .milliseconds(1)) } catch { throw .timedOut }
    }
    if connections.contains(where: \.hasLost) {
      throw state.read { $0.isClosed } ? .closed : .interrupted
    }
  }

  public func onChange(
    _ changed: @escaping @Sendable (TransportState) -> Void
  ) -> any TransportSubscription {
    observers.add(changed)
  }

  public func close() {
    // The file and the sockets belong to the parent.
    if process.isForked { return }
    let before = state.withLockInPlace { state in
      let before = state
      state = State(isClosed: true)
      return before
    }
    _ = subscriptions.close()
    if before.isClosed { return }
    if let listening {
      // Removed while this process still listens, so that no other process takes the file for an
      // abandoned one.
      SocketDescriptor.remove(listening.file, at: path)
      listening.end()
    }
    for connection in before.connections { connection.end() }
    for pending in before.requests.values { pending.request.take(.failure(.closed)) }
    observers.tell(.closed)
  }
}
