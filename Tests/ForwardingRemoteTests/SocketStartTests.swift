// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import RemoteTestSupport
import Synchronization
import Testing

@testable import ForwardingRemote

import Glibc

@Suite("Making sockets", .timeLimit(.minutes(60)))
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
    let isOver = ends { try UnixSocketTransport(listeningAt: path).close() }
    try #require(isOver)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
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
}
