import Invocations
import Synchronization

/// A socket that others connect to, and the thread that lets them in.
final class SocketListening: Sendable {
  /// Which file it is.
  let file: SocketDescriptor.File?
  private let descriptor: SocketDescriptor
  private let state = OwnLock(State())

  private struct State {
    var isEnded = false
    /// The last one closes the descriptor.
    var users = 1
  }

  init(_ descriptor: SocketDescriptor, at path: String) {
    self.descriptor = descriptor
    file = SocketDescriptor.File(at: path)
  }

  /// Begins to let others in; false where the system has no thread for it.
  func begin(_ connected: @escaping @Sendable (SocketDescriptor) -> Void) -> Bool {
    state.withLock { $0.users += 1 }
    let hasBegun = SystemThread.begin { [self] in
      loop: while !state.withLock({ $0.isEnded }) {
        switch descriptor.accept() {
        case .connected(let new): connected(new)
        // They wait until files are closed. To be told of them all the time helps nobody.
        case .noRoom: SocketDescriptor.rest(milliseconds: 200)
        case .ended: break loop
        }
      }
      leave()
    }
    if !hasBegun { leave() }
    return hasBegun
  }

  /// Lets nobody in any more.
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
