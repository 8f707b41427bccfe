// SPDX-License-Identifier: Apache-2.0
import Invocations

/// A listening socket, and the thread that accepts connections until this is ended.
final class SocketListening: Sendable {
  /// The file of the socket.
  let file: SocketDescriptor.File?
  private let descriptor: SocketDescriptor
  private let isEnded = Guarded(false)

  init(_ descriptor: SocketDescriptor, at path: String) {
    self.descriptor = descriptor
    file = SocketDescriptor.File(at: path)
  }

  /// Starts to accept connections. Returns false if the system has no thread for it.
  func begin(_ connected: @escaping @Sendable (SocketDescriptor) -> Void) -> Bool {
    let hasBegun = SystemThread.begin { [self] in
      while !isEnded.read({ $0 }) {
        if let new = descriptor.accept() {
          connected(new)
        } else if !isEnded.read({ $0 }) {
          // No descriptor, no memory, or an error that no one expects: new connections wait, and
          // polling all the time would not help.
          SocketDescriptor.rest(milliseconds: 200)
        }
      }
      // Clients that are still waiting to be accepted are hung up on.
      descriptor.close()
    }
    if !hasBegun {
      isEnded.withLock { $0 = true }
      descriptor.close()
    }
    return hasBegun
  }

  /// Stops accepting connections. The descriptor is open until the thread has seen this.
  func end() {
    isEnded.withLock { isEnded in
      if !isEnded { descriptor.shutDown() }
      isEnded = true
    }
  }
}
