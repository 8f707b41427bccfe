#if NATS
  import CNATS
  import Invocations

  /// Messages that were read, until they are many.
  ///
  /// The library has a thread that lets go of them, and wakes it for each that it is given while that thread waits: twice
  /// a call, which costs as much as a part of the way to the server. Given many at a time, it is woken once.
  final class NATSWaste: Sendable {
    private struct State {
      /// Their addresses.
      var messages: [UInt] = []
      var bytes = 0
    }

    /// So many are kept at most, and so many bytes.
    private static let (count, bytes) = (64, 64 << 10)
    private let state = Guarded(State())

    deinit { Self.destroy(state.read { $0.messages }) }

    /// Takes a message that nobody reads any more.
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
      // SAFETY: each was given here by whoever had it, and has no other owner.
      for message in messages { unsafe natsMsg_Destroy(OpaquePointer(bitPattern: message)) }
    }
  }
#endif
