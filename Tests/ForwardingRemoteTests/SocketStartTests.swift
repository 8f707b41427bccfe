// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import RemoteTestSupport
import Synchronization
import Testing

@testable import ForwardingRemote

#if canImport(Glibc)
  import Glibc
#endif

@Suite("Making sockets", .timeLimit(.minutes(10)))
struct SocketStartTests {
  private let path = socketPath()

  @Test("no descriptor can be inherited at any moment by a program that is started")
  func closedOnExec() async {
    await #expect(processExitsWith: .success) { [path = path as String] in
      let server = try UnixSocketTransport(listeningAt: path)
      let found = Atomic(0)
      let looked = Atomic(0)
      let isOver = Atomic(false)
      let looking = Thread {
        while !isOver.load(ordering: .relaxed) {
          for number: Int32 in 0..<48 {
            func isSocket() -> Bool {
              var kind: Int32 = 0
              var size = socklen_t(MemoryLayout<Int32>.size)
              return getsockopt(number, SOL_SOCKET, SO_TYPE, &kind, &size) == 0
                && kind == Int32(SOCK_SEQPACKET.rawValue)
            }
            // Checked before and after, as the number may belong to another descriptor meanwhile.
            guard isSocket() else { continue }
            let flags = fcntl(number, F_GETFD)
            guard flags >= 0, flags & FD_CLOEXEC == 0, isSocket() else { continue }
            found.wrappingAdd(1, ordering: .relaxed)
          }
          looked.wrappingAdd(1, ordering: .relaxed)
        }
      }
      looking.start()
      for _ in 0..<3000 {
        // Accepting may be slower than connecting.
        guard let client = try? UnixSocketTransport(connectedTo: path) else { continue }
        client.close()
      }
      while looked.load(ordering: .relaxed) < 100 { usleep(1000) }
      isOver.store(true, ordering: .relaxed)
      server.close()
      guard found.load(ordering: .relaxed) == 0 else { exit(2) }
      exit(0)
    }
  }

  @Test("a lock on the folder does not delay a listener, and an abandoned lock file is taken over")
  func lock() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("socket")
    let number = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    #expect(flock(number, LOCK_EX) == 0)
    #expect(FileManager.default.createFile(atPath: path + ".lock", contents: nil))
    let server = LockedValue<UnixSocketTransport?>(nil)
    let isOver = ends {
      let new = try UnixSocketTransport(listeningAt: path)
      server.withLock { $0 = new }
    }
    try #require(isOver)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["socket"])
    try #require(server.withLock { $0 }).close()
    close(number)
  }

  @Test("a file with the name of the lock stays if it is not empty")
  func otherUses() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("yarn")
    try "written".write(toFile: path + ".lock", atomically: true, encoding: .utf8)
    let server = try UnixSocketTransport(listeningAt: path)
    server.close()
    #expect(try String(contentsOfFile: path + ".lock", encoding: .utf8) == "written")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["yarn.lock"])
  }

  @Test("a relative path stays the same when the current folder changes")
  func relative() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      guard chdir(folder.path) == 0 else { exit(2) }
      let first = try UnixSocketTransport(listeningAt: "socket")
      let client = try UnixSocketTransport(connectedTo: "socket")
      guard chdir("/") == 0 else { exit(3) }
      first.close()
      guard access(folder.path("socket"), F_OK) != 0 else { exit(4) }
      let second = try UnixSocketTransport(listeningAt: folder.path("socket"))
      for _ in 0..<3000 where second.connectionCount == 0 { usleep(10_000) }
      guard second.connectionCount == 1 else { exit(5) }
      withExtendedLifetime(client) { second.close() }
      exit(0)
    }
  }

  @Test("a path that contains a zero does not remove the file named by the part before it")
  func zero() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("empty")
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    #expect(throws: TransportError.self) { try UnixSocketTransport(listeningAt: path + "\0x") }
    #expect(access(path, F_OK) == 0)
  }

  @Test("a listener fails at once while another process begins to listen at the path")
  func beginning() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("socket")
    let other = try SocketLock(for: path)
    let told = LockedValue<TransportError?>(nil)
    let isOver = ends {
      do throws(TransportError) { _ = try UnixSocketTransport(listeningAt: path) } catch {
        told.withLock { $0 = error }
      }
    }
    try #require(isOver)
    #expect(
      told.withLock { $0 } == .unreachable("\(path): another process begins to listen there"))
    other.end()
    let server = try UnixSocketTransport(listeningAt: path)
    server.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }
}
