// SPDX-License-Identifier: Apache-2.0
import Invocations

/// A listening socket, and the thread that accepts connections until this is ended.
final class SocketListening: Sendable {
  private let path: String
  private let lock: SocketLock
  let descriptor: SocketDescriptor
  private let isEnded = Guarded(false)

  /// Listens at a path. The socket file of a process that has ended is removed.
  init(at path: String) throws(TransportError) {
    self.path = path
    lock = try SocketLock(for: path)
    do throws(TransportError) { descriptor = try Self.listen(at: path) } catch {
      lock.end()
      throw error
    }
  }

  private static func listen(at path: String) throws(TransportError) -> SocketDescriptor {
    let descriptor = try SocketDescriptor.make()
    do throws(TransportError) {
      // A program that does not know the lock may listen there.
      if try descriptor.connect(to: path) {
        throw .unreachable("\(path): a process listens there already")
      }
      SocketDescriptor.remove(path)
      try descriptor.listen(at: path)
      return descriptor
    } catch {
      descriptor.close()
      throw error
    }
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
      end()
      descriptor.close()
    }
    return hasBegun
  }

  /// Stops accepting connections. The descriptor is open until the thread has seen this.
  func end() {
    let isFirst = isEnded.withLock { isEnded in
      // Under this lock, so that the thread has not closed the descriptor yet.
      if !isEnded { descriptor.shutDown() }
      defer { isEnded = true }
      return !isEnded
    }
    guard isFirst else { return }
    // While the lock is held, so that the file is not that of the next process.
    SocketDescriptor.remove(path)
    lock.end()
  }
}
