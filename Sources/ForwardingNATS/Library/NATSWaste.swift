// SPDX-License-Identifier: Apache-2.0
#if NATS
  import CNATS
  import Invocations

  /// Collects messages that have been read, to free many at a time.
  ///
  /// The library frees messages on a thread, which it wakes for each message that it gets while the
  /// thread waits. That is twice for each call, and costs as much as a part of the way to the
  /// server. For a batch the thread is woken once.
  final class NATSWaste: Sendable {
    private struct State {
      /// The addresses of the messages.
      var messages: [UInt] = []
      var bytes = 0
    }

    /// The most messages that are kept, and the most bytes.
    private static let (count, bytes) = (64, 64 << 10)
    private let state = Guarded(State())

    deinit { Self.destroy(state.read { $0.messages }) }

    /// Takes over a message that is no longer read.
    @unsafe
    func take(_ message: OpaquePointer) {
      let (address, size) = unsafe (
        UInt(bitPattern: message), Int(natsMsg_GetDataLength(message))
      )
      let full: [UInt] = state.withLockInPlace { state in
        state.messages.append(address)
        state.bytes += size
        guard state.messages.count >= Self.count || state.bytes > Self.bytes else { return [] }
        defer { state = State() }
        return state.messages
      }
      if !full.isEmpty { Self.destroy(full) }
    }

    private static func destroy(_ messages: [UInt]) {
      // SAFETY: each message was handed over by its owner, and has no other owner.
      for message in messages { unsafe natsMsg_Destroy(OpaquePointer(bitPattern: message)) }
    }
  }
#endif
