#if NATS
  import CNATS
  import ForwardingRemote
  import Invocations
  import Synchronization

  // What the library calls, with its lock held.
  extension NATSLoop {
    @unsafe
    func set(on options: OpaquePointer?) throws(TransportError) {
      // SAFETY: who connects has this until the library has attached it, which keeps it until it detaches it.
      let status = unsafe natsOptions_SetEventLoop(
        options, Unmanaged.passUnretained(self).toOpaque(),
        { place, loop, connection, number in
          guard let loop = unsafe loop, let place = unsafe place else { return NATS_INVALID_ARG }
          unsafe place.pointee = unsafe loop
          let known = unsafe Unmanaged<NATSLoop>.fromOpaque(loop).takeUnretainedValue()
          return unsafe known.attach(connection, number)
        },
        { loop, isAdded in
          if !isAdded { unsafe NATSLoop.of(loop)?.detach() }
          return NATS_OK
        },
        { loop, isAdded in
          unsafe NATSLoop.of(loop)?.note(isAdded)
          return NATS_OK
        },
        { loop in
          guard let loop = unsafe loop else { return NATS_OK }
          let known = unsafe Unmanaged<NATSLoop>.fromOpaque(loop).takeRetainedValue()
          known.hasEnded.store(true, ordering: .sequentiallyConsistent)
          known.detach()
          return NATS_OK
        })
      try TransportError.check(status)
    }

    @unsafe
    private static func of(_ loop: UnsafeMutableRawPointer?) -> NATSLoop? {
      unsafe loop.map { unsafe Unmanaged<NATSLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The connection is there, or there again.
    @unsafe
    private func attach(_ connection: OpaquePointer?, _ number: Int32) -> natsStatus {
      let made = unsafe Socket(number: number, connection: connection)
      socket.withLock { $0 = made }
      stalled.store(0, ordering: .relaxed)
      if isAttached.exchange(true, ordering: .sequentiallyConsistent) {
        bell.ring()
        return NATS_OK
      }
      let kept = unsafe Unmanaged.passRetained(self)
      if SystemThread.begin({ [self] in run(0) }) { return NATS_OK }
      unsafe kept.release()
      return NATS_NO_MEMORY
    }

    /// The socket is about to be closed.
    private func detach() {
      socket.withLock { $0.number = -1 }
      bell.ring()
    }

    /// The library has something to send, or all is sent.
    private func note(_ isUnsent: Bool) {
      hasUnsent.store(isUnsent, ordering: .sequentiallyConsistent)
      if !isUnsent {
        unsent.store(0, ordering: .relaxed)
        stalled.store(0, ordering: .relaxed)
      } else if !isQuiet.load(ordering: .sequentiallyConsistent) {
        bell.ring()
      }
    }
  }
#endif
