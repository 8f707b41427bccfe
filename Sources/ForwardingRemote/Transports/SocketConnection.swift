// SPDX-License-Identifier: Apache-2.0
import ForwardingWire
import Invocations

/// A connection to another process: it sends messages in order, and receives messages on a thread.
///
/// The reading thread blocks in the kernel and passes each message on directly. So no queue and no
/// other thread delays a message, and a message that takes long delays only its own connection. A
/// second thread sends messages that have to wait; it runs while there are any.
///
/// A connection that has ended sends nothing more. What the peer has sent before is still received;
/// then the reading thread finds the end.
final class SocketConnection: Sendable {
  /// The most bytes that wait to be sent, with 64 more for each message. So a peer that does not
  /// read takes a limited amount of memory.
  static let mostWaiting = 4 << 20

  private struct Outbox {
    var isOpen = true
    /// The messages that wait for the sending thread.
    var messages: [[UInt8]] = []
    /// The cost of the messages that wait or are being sent; of those that were lost, at the end.
    var bytes = 0
    /// Whether a thread is sending, so that further messages have to wait.
    var isSending = false
  }

  let peer: TransportPeer
  private let descriptor: SocketDescriptor
  /// Messages are sent while it is held, which keeps them in order.
  private let outbox = Guarded(Outbox())

  /// Takes over a connected socket.
  init(_ descriptor: SocketDescriptor) {
    self.descriptor = descriptor
    peer = descriptor.peer
  }

  // No thread uses it any more.
  deinit { descriptor.close() }

  /// Receives messages on a thread, until the connection ends or `received` returns false. Then
  /// `ended` is called. Returns false if the system has no thread for it.
  func begin(
    _ received: @escaping @Sendable (SocketConnection, [UInt8]) -> Bool,
    ended: @escaping @Sendable (SocketConnection) -> Void
  ) -> Bool {
    SystemThread.begin { [self] in
      var room = SocketDescriptor.room(of: SocketFrame.mostPayload + SocketFrame.head)
      while let count = descriptor.receive(into: &room), received(self, Array(room[..<count])) {}
      end()
      ended(self)
    }
  }

  /// Sends a message, or lets it wait behind others.
  ///
  /// - Throws: ``TransportError`` if the message was not sent, and will not be.
  func send(_ bytes: [UInt8]) throws(TransportError) {
    let begins = try outbox.withLockInPlace { (outbox) throws(TransportError) in
      guard outbox.isOpen else { throw .interrupted }
      if !outbox.isSending {
        switch descriptor.send(bytes) {
        case .sent: return false
        case .tooLarge: throw .failed("the system cannot send \(bytes.count) bytes at once")
        case .broken:
          shut(&outbox)
          throw .interrupted
        case .full: break
        }
      }
      let cost = Self.cost(of: bytes)
      guard outbox.bytes + cost <= Self.mostWaiting else { throw .congested }
      outbox.messages.append(bytes)
      outbox.bytes += cost
      defer { outbox.isSending = true }
      return !outbox.isSending
    }
    // Without a thread, nothing would ever be sent.
    if begins, !SystemThread.begin({ [self] in sendWaiting() }) { end() }
  }

  private static func cost(of bytes: [UInt8]) -> Int { bytes.count + 64 }

  /// Sends waiting messages as fast as the peer takes them, until none waits or the connection ends.
  private func sendWaiting() {
    while true {
      let messages = outbox.withLockInPlace { outbox in
        defer { outbox.messages = [] }
        outbox.isSending = !outbox.messages.isEmpty
        return outbox.messages
      }
      if messages.isEmpty { return }
      for bytes in messages where !sendLater(bytes) { return end() }
    }
  }

  /// Sends a message once there is room for it. Returns false if the connection has ended.
  private func sendLater(_ bytes: [UInt8]) -> Bool {
    while true {
      descriptor.waitForRoom()
      switch descriptor.send(bytes) {
      case .broken: return false
      // The system has no memory. Other code may free some; the send buffer would not say so.
      case .full: SocketDescriptor.rest(milliseconds: 10)
      // A message that is too large to be sent does not block those behind it.
      case .sent, .tooLarge:
        outbox.withLockInPlace { $0.bytes -= Self.cost(of: bytes) }
        return true
      }
    }
  }

  /// How many bytes wait to be sent, or were lost when the connection ended.
  var waiting: Int { outbox.withLockInPlace { $0.bytes } }

  var isOpen: Bool { outbox.withLockInPlace { $0.isOpen } }

  /// Ends the connection. The peer notices that at once, and the reading thread comes to its end.
  func end() { outbox.withLockInPlace { shut(&$0) } }

  private func shut(_ outbox: inout Outbox) {
    outbox.isOpen = false
    outbox.messages = []
    descriptor.shutDown()
  }
}
