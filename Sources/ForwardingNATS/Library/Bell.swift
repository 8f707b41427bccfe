#if NATS
  import Synchronization

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif

  /// What a thread waits at that waits for a socket as well: a pipe of its own.
  final class Bell: Sendable {
    private let (reader, writer): (Int32, Int32)
    /// Whether it was rung, and the thread has not looked since.
    let isRung = Atomic(false)

    /// Makes one; nil where the system has no more files.
    init?() {
      var ends: (Int32, Int32) = (-1, -1)
      // SAFETY: two numbers are written, or the status says that they are not.
      let status = unsafe withUnsafeMutableBytes(of: &ends) {
        unsafe pipe($0.assumingMemoryBound(to: Int32.self).baseAddress!)
      }
      (reader, writer) = ends
      guard status == 0 else { return nil }
      for end in [reader, writer] {
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
      }
    }

    deinit {
      if reader >= 0 { _ = close(reader) }
      if writer >= 0 { _ = close(writer) }
    }

    /// Wakes the thread. A full pipe does so as well.
    func ring() {
      isRung.store(true, ordering: .sequentiallyConsistent)
      var byte: UInt8 = 1
      // SAFETY: one byte is read.
      _ = unsafe write(writer, &byte, 1)
    }

    /// Wakes the thread, unless somebody has.
    func ringOnce() { if !isRung.exchange(true, ordering: .sequentiallyConsistent) { ring() } }

    /// Waits for something to read, for room to send, for the bell, or for a time. Returns whether there is something to
    /// read, or the end of it.
    func wait(for socket: Int32, toSend: Bool, until deadline: UInt64?) -> Bool {
      var limit: Int32 = -1
      if let deadline {
        let now = NATSLoop.now
        limit = deadline > now ? Int32(clamping: (deadline - now) / 1_000_000 + 1) : 0
      }
      let events = Int16(POLLIN) | (toSend ? Int16(POLLOUT) : 0)
      var files = (
        pollfd(fd: socket, events: events, revents: 0),
        pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
      )
      // SAFETY: both are there until the call returns.
      _ = unsafe withUnsafeMutableBytes(of: &files) {
        unsafe poll($0.assumingMemoryBound(to: pollfd.self).baseAddress, 2, limit)
      }
      if files.1.revents != 0 { silence() }
      return files.0.revents & ~Int16(POLLOUT) != 0
    }

    private func silence() {
      var bytes: UInt64 = 0
      // SAFETY: no more bytes are written than there is room for.
      while unsafe read(reader, &bytes, 8) == 8 {}
    }

    /// Waits for a time.
    static func pause(nanoseconds: Int) {
      var time = timespec(tv_sec: 0, tv_nsec: nanoseconds)
      // SAFETY: it is there until the call returns.
      _ = unsafe nanosleep(&time, nil)
    }

    /// Waits until a socket takes more.
    func waitForRoom(in socket: Int32, milliseconds: Int32) {
      var file = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
      // SAFETY: it is there until the call returns.
      _ = unsafe poll(&file, 1, milliseconds)
    }
  }
#endif
