// SPDX-License-Identifier: Apache-2.0
import Invocations
import Synchronization

/// A listening socket, and the thread that accepts connections.
final class SocketListening: Sendable {
  /// The file of the socket.
  let file: SocketDescriptor.File?
  private let descriptor: SocketDescriptor
  private let state = BlockingMutex(State())

  private struct State {
    var isEnded = false
    /// The users of the descriptor. The last one closes it.
    var users = 1
  }

  init(_ descriptor: SocketDescriptor, at path: String) {
    self.descriptor = descriptor
    file = SocketDescriptor.File(at: path)
  }

  /// Starts to accept connections. Returns false if the system has no thread for it.
  func begin(_ connected: @escaping @Sendable (SocketDescriptor) -> Void) -> Bool {
    state.withLock { $0.users += 1 }
    let hasBegun = SystemThread.begin { [self] in
      loop: while !state.withLock({ $0.isEnded }) {
        switch descriptor.accept() {
        case .connected(let new): connected(new)
        // New connections wait until descriptors are closed. Polling for that all the time would
        // not help.
        case .noRoom: SocketDescriptor.rest(milliseconds: 200)
        case .ended: break loop
        }
      }
      leave()
    }
    if !hasBegun { leave() }
    return hasBegun
  }

  /// Stops accepting connections.
  func end() {
    let isFirst = state.withLock { state in
      if state.isEnded { return false }
      state.isEnded = true
      descriptor.shutDown()
      return true
    }
    if isFirst { leave() }
  }

  private func leave() {
    state.withLock { state in
      state.users -= 1
      if state.users == 0 { descriptor.close() }
    }
  }
}
