// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Forwarding
import ForwardingRemote
import ForwardingTestSupport
import Foundation
import RemoteTestSupport
import Testing

import Glibc

@Suite("Sockets, their files and other users")
struct SocketFaultTests {
  private let path = socketPath()

  // MARK: Who may listen and connect

  @Test(
    "no other user connects, and none is connected to that has taken the path", .users,
    .enabled(if: getuid() == 0, "needs two users"))
  func otherUser() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      func isRefused(_ path: String, _ words: String) throws {
        do {
          _ = try UnixSocketTransport(connectedTo: path)
          require(false, "connected to another user")
        } catch TransportError.unreachable(let why) {
          require(why.hasSuffix(words), why)
        }
      }
      let own = try UnixSocketTransport(listeningAt: path)
      var facts = stat()
      stat(path, &facts)
      require(facts.st_mode & 0o777 == 0o600)
      try UnixSocketTransport(connectedTo: path).close()
      // The kernel reports the user of the listening process at the time of listening.
      require(seteuid(65534) == 0)
      let other = try UnixSocketTransport(listeningAt: path + "2")
      require(seteuid(0) == 0)
      try isRefused(path + "2", "another user listens there")
      other.close()
      let child = Child {
        require(setgid(65534) == 0 && setuid(65534) == 0)
        try isRefused(path, "Permission denied")
      }
      require(child.wait() == 0)
      own.close()
    }
  }

  @Test("one of many processes gets the path of a dead one, and another file at the path stays")
  func listeners() async throws {
    for _ in 0..<400 {
      // A socket file without a listener.
      #expect(PacketSocket(listeningAt: path) != nil)
      // A process that another test is starting also has the descriptor until it calls `exec`.
      while PacketSocket(path) != nil { usleep(100) }
      let servers: [UnixSocketTransport] = await withTaskGroup(of: UnixSocketTransport?.self) {
        [path] tasks in
        for _ in 0..<8 { tasks.addTask { try? UnixSocketTransport(listeningAt: path) } }
        return await tasks.reduce(into: []) { if let server = $1 { $0.append(server) } }
      }
      #expect(servers.count == 1)
      try UnixSocketTransport(connectedTo: path).close()
      for server in servers { server.close() }
    }
    #expect(throws: TransportError.unreachable("\(path): no process listens there")) {
      try UnixSocketTransport(connectedTo: path)
    }
  }

  @Test("the socket file of a listener with a full queue of connections stays")
  func fullBacklog() throws {
    let busy = try #require(PacketSocket(listeningAt: path))
    var before = stat()
    #expect(lstat(path, &before) == 0)
    var waiting = [PacketSocket(blocks: false)]
    while waiting.count < 5000, waiting.last?.connect(to: path) == true {
      waiting.append(PacketSocket(blocks: false))
    }
    #expect(waiting.count < 5000)
    #expect(throws: TransportError.self) { try UnixSocketTransport(listeningAt: path) }
    #expect(throws: TransportError.self) { try UnixSocketTransport(connectedTo: path) }
    var after = stat()
    #expect(lstat(path, &after) == 0 && after.st_ino == before.st_ino)
    withExtendedLifetime((busy, waiting)) { _ = unlink(path) }
  }

  @Test("a path has one listener, which takes over abandoned files, and removes its own alone")
  func files() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("socket")
    func files() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }
    // Even if its file was removed.
    let first = try UnixSocketTransport(listeningAt: path)
    unlink(path)
    #expect(throws: TransportError.unreachable("\(path): a process listens there already")) {
      try UnixSocketTransport(listeningAt: path)
    }
    first.close()
    let second = try UnixSocketTransport(listeningAt: path)
    first.close()
    #expect(try files() == ["socket", "socket.lock"])
    second.close()
    #expect(try files() == [])
    // A lock on the folder does not delay it.
    let number = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    #expect(flock(number, LOCK_EX) == 0)
    #expect(FileManager.default.createFile(atPath: path + ".lock", contents: nil))
    try #require(ends { try UnixSocketTransport(listeningAt: path).close() })
    #expect(try files() == [])
    close(number)
    // A lock file that is not empty serves another purpose, as a file at the path does.
    try "written".write(toFile: path + ".lock", atomically: true, encoding: .utf8)
    try UnixSocketTransport(listeningAt: path).close()
    try "a text".write(toFile: path, atomically: true, encoding: .utf8)
    #expect(throws: TransportError.self) { try UnixSocketTransport(listeningAt: path) }
    #expect(try String(contentsOfFile: path + ".lock", encoding: .utf8) == "written")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "a text")
    #expect(try files() == ["socket", "socket.lock"])
  }

  @Test("a path that is not whole, or no path, is refused, and removes no file")
  func paths() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("empty")
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    let long = path + String(repeating: "x", count: 108)
    for bad in ["", "socket", "./socket", path + "\0x", long, folder.path("none/socket")] {
      #expect(throws: TransportError.self, "\(bad)") { try UnixSocketTransport(listeningAt: bad) }
      #expect(throws: TransportError.self, "\(bad)") { try UnixSocketTransport(connectedTo: bad) }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["empty"])
  }

  // MARK: What arrives

  @Test("frequent signals interrupt no call")
  func signals() async {
    await #expect(processExitsWith: .success) {
      let bank = try Bank(.socket)
      var action = sigaction()
      // Without `SA_RESTART`, so that system calls are interrupted.
      action.__sigaction_handler.sa_handler = { _ in }
      sigaction(SIGALRM, &action, nil)
      ualarm(100, 100)
      let endings = Endings()
      await endings.send(0..<3000, to: bank.remote, atATime: 10)
      require(endings.answered.count == 3000 && bank.host.statistics.answered == 3000)
      exit(0)
    }
  }

  @Test("a peer that sends malformed frames is disconnected, and other peers are served")
  func frames() async throws {
    let bank = try Bank(
      (UnixSocketTransport(listeningAt: path), UnixSocketTransport(connectedTo: path)))
    let zeros = [UInt8](repeating: 0, count: 8)
    let hostile: [[UInt8]] = [
      [1], [0x12], [0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0x13, 0, 0], [0, 0, 0, 0] + zeros,
      [0x15, 0, 0, 0] + zeros, [0x10, 0, 0, 0] + zeros,
      // Of version 1: told, too short, and a byte that should be zero.
      [1, 0, 1, 0] + zeros + [UInt8(ascii: "x")], [2, 0, 0, 0], [2, 1, 0, 0] + zeros,
      [0x12, 0, 0, 0] + [UInt8](repeating: 0, count: 170_000),
    ]
    for (number, bytes) in hostile.enumerated() {
      let peer = try #require(PacketSocket(path))
      #expect(peer.send(bytes))
      #expect(peer.receive() == nil)
      #expect(try await Vault.deposit(1, on: bank.remote) == number + 1)
    }
    // Answers to unknown requests are ignored.
    let liar = try #require(PacketSocket(path))
    for kind: UInt8 in [0x13, 0x14] { #expect(liar.send([kind, 1, 0, 0])) }
    #expect(liar.isAnswered())
  }

  // MARK: Descriptors and threads

  @Test(
    "connections that end in any way, from many threads at once, leave no descriptor and no thread")
  func connectionEnds() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      await Task.yield()
      let before = Open()
      for round in 0..<300 {
        let server = try UnixSocketTransport(listeningAt: path)
        let client = try UnixSocketTransport(connectedTo: path)
        let peer = PacketSocket(path)
        let (states, watch) = changes(of: client)
        // Every tenth round, a message ends the connection.
        if round % 10 == 0 { peer?.send([1]) }
        let bytes = [UInt8](repeating: 1, count: 20_000)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
          for _ in 0..<10 {
            try? client.publish(bytes, to: "news")
            try? server.publish(bytes, to: "news")
          }
          switch (thread + round) % 4 {
          case 0: client.close()
          case 1: server.close()
          case 2: peer?.shutDown()
          default: break
          }
        }
        require(states.read { all in all.count { $0 == .closed } } == 1)
        watch.end()
      }
      // Only the listener retains the transport, and releases it on the reading thread.
      for _ in 0..<100 {
        let server = LockedValue<UnixSocketTransport?>(try UnixSocketTransport(listeningAt: path))
        let peer = PacketSocket(path)
        _ = try server.withLock { $0 }?.subscribe(to: "last", group: nil) { _ in
          let last = server.withLock { server in
            defer { server = nil }
            return server
          }
          last?.close()
        }
        require(peer?.send(SocketFrame(.told, 0, "last", []).bytes) == true)
        require(peer?.receive() == nil)
      }
      for _ in 0..<6000 where !Open().isWithin(before) { usleep(10_000) }
      exit(Open().isWithin(before) ? 0 : 7)
    }
  }

  /// The descriptors and threads of this process.
  private struct Open {
    let files = count("fd")
    let threads = count("task")

    /// Whether there are no more than before, except for those of Dispatch and of tasks.
    func isWithin(_ before: Open) -> Bool {
      files <= before.files + 8 && threads <= before.threads + 16
    }

    private static func count(_ folder: String) -> Int {
      ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/" + folder)) ?? []).count
    }
  }

  @Test("no descriptor can be inherited at any moment by a program that is started")
  func closedOnExec() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      let server = try UnixSocketTransport(listeningAt: path)
      let (found, looked) = (LockedValue(0), LockedValue(0))
      beginThread {
        while true {
          for number: Int32 in 0..<48 {
            func socket() -> ino_t? {
              var (kind, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
              var facts = stat()
              guard getsockopt(number, SOL_SOCKET, SO_TYPE, &kind, &size) == 0,
                kind == Int32(SOCK_SEQPACKET.rawValue), fstat(number, &facts) == 0
              else { return nil }
              return facts.st_ino
            }
            // The same before and after: if the number was closed meanwhile, the flags are those of no socket.
            guard let before = socket() else { continue }
            let flags = fcntl(number, F_GETFD)
            guard flags >= 0, flags & FD_CLOEXEC == 0, socket() == before else { continue }
            found.withLock { $0 += 1 }
          }
          looked.withLock { $0 += 1 }
        }
      }
      // Accepting may be slower than connecting.
      for _ in 0..<3000 { try? UnixSocketTransport(connectedTo: path).close() }
      while looked.withLock({ $0 }) < 100 { usleep(1000) }
      require(found.withLock { $0 } == 0)
      withExtendedLifetime(server) { _exit(0) }
    }
  }

  /// Sets the soft limit of a resource of this process. Returns what it was.
  private static func setLimit(_ resource: Int32, _ value: rlim_t) -> rlim_t {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(UInt32(resource)), &limit)
    let before = limit.rlim_cur
    limit.rlim_cur = value
    require(setrlimit(__rlimit_resource_t(UInt32(resource)), &limit) == 0)
    return before
  }

  @Test(
    "a process without threads to spare refuses connections, frees closed ones, and recovers",
    .enabled(if: getuid() == 0, "needs another user, as root gets all threads"),
    .notEmulated("the emulator needs threads of its own"))
  func noMoreThreads() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      require(setgid(65533) == 0 && setuid(65533) == 0)
      let server = try UnixSocketTransport(listeningAt: path)
      let deaf = PacketSocket(path)
      require(deaf?.isAnswered() == true)
      let files = { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count }
      let before = files() ?? 0
      // `RLIMIT_NPROC`.
      let usual = Self.setLimit(6, 0)
      let bytes = [UInt8](repeating: 0, count: 100_000)
      // Until a thread is needed for what waits.
      for _ in 0..<60_000 where files() != before - 1 {
        try? server.publish(bytes, to: "news")
        usleep(1000)
      }
      require(files() == before - 1)
      let late = PacketSocket(path)
      require(late?.receive() == nil)
      require((try? UnixSocketTransport(connectedTo: path)) == nil)
      _ = Self.setLimit(6, usual)
      require(PacketSocket(path)?.isAnswered() == true)
      withExtendedLifetime((server, deaf, late)) { exit(0) }
    }
  }

  @Test(
    "a process without descriptors to spare waits, and does not use a whole core",
    .notEmulated("the emulator needs descriptors of its own"))
  func noMoreFiles() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      let server = try UnixSocketTransport(listeningAt: path)
      // Once there is a connection, all threads that wait for others exist.
      let first = PacketSocket(path)
      require(first?.isAnswered() == true)
      let waiting = (0..<16).map { _ in PacketSocket() }
      // `RLIMIT_NOFILE`: no descriptor can be opened, not even that of a timer for a later attempt.
      let usual = Self.setLimit(7, 0)
      require(open("/dev/null", O_RDONLY) < 0)
      for socket in waiting { require(socket.connect(to: path)) }
      // Other work of the process may use a core for a while; busy polling uses it all the time.
      let isQuiet = (0..<5).contains { _ in
        let before = clock()
        usleep(2_000_000)
        return Double(clock() - before) / 1e6 < 0.5
      }
      require(isQuiet)
      _ = Self.setLimit(7, usual)
      for socket in waiting { require(socket.isAnswered()) }
      withExtendedLifetime((server, first)) { exit(0) }
    }
  }

  // MARK: A system that fails

  /// Finds no memory for messages forty times, and cannot send large ones.
  private static let failing = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <stdatomic.h>
    #include <sys/socket.h>

    ssize_t send(int number, const void *bytes, size_t count, int flags) {
      static _Atomic int calls;
      ssize_t (*next)(int, const void *, size_t, int) = dlsym(RTLD_NEXT, "send");
      int call = calls++;
      errno = count > 50000 ? EMSGSIZE : call % 2 ? ENOBUFS : ENOMEM;
      return errno == EMSGSIZE || call < 40 ? -1 : next(number, bytes, count, flags);
    }
    """

  @Test("where the system has no memory, messages wait without using a whole core")
  func failingSystem() async throws {
    // Not on a thread of tasks, as other tests need those.
    let finished = try await withCheckedThrowingContinuation { continuation in
      beginThread { continuation.resume(with: Result { try Self.withFailingSystem() }) }
    }
    #expect(finished.status == 0, "\(finished.output)")
  }

  private static func withFailingSystem() throws -> Finished {
    let library = try CCompiler.system().library(failing)
    defer { try? FileManager.default.removeItem(atPath: library) }
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    return try run(
      program, ["--testing-library", "swift-testing", "--filter", "SocketFaultTests/sends"],
      environment: ["FORWARDING_TEST_SENDS": "1", "LD_PRELOAD": library])
  }

  @Test(
    "the process of that test sends messages, and one that the system cannot send as a whole",
    .enabled(
      if: ProcessInfo.processInfo.environment["FORWARDING_TEST_SENDS"] != nil, "another starts it"))
  func sends() async throws {
    let server = try UnixSocketTransport(listeningAt: path)
    let client = try UnixSocketTransport(connectedTo: path)
    let received = LockedValue<[[UInt8]]>([])
    let listener = try server.subscribe(to: "news", group: nil) { message in
      received.withLock { $0.append(message.payload) }
    }
    let begin = ContinuousClock.now
    for byte: UInt8 in 1...3 { try client.publish([byte], to: "news") }
    try await eventually { received.withLock { $0.count } == 3 }
    // Each of forty attempts is made after a pause.
    #expect(ContinuousClock.now - begin > .milliseconds(300))
    #expect(throws: TransportError.failed("the system cannot send 60012 bytes at once")) {
      try client.publish([UInt8](repeating: 0, count: 60_000), to: "news")
    }
    try client.publish([4], to: "news")
    try await eventually { received.withLock { $0.count } == 4 }
    #expect(received.withLock { $0 } == [[1], [2], [3], [4]])
    listener.end()
    client.close()
    server.close()
  }
}
