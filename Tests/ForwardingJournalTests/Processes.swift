import Foundation
import CJournalShims
import Glibc

/// The two ways to a checksum.
enum Checksums {
  static func both(_ bytes: [UInt8], _ before: UInt32) -> [UInt32] {
    [fwd_crc32c(before, bytes, bytes.count), fwd_crc32c_by_table(before, bytes, bytes.count)]
  }
}

/// Ends the process with a line of text unless something is so.
func require(_ isSo: Bool, _ text: @autoclosure () -> String = "not so", line: Int = #line) {
  if isSo { return }
  FileHandle.standardError.write(Data("line \(line): \(text())\n".utf8))
  _exit(Int32(1 + line % 100))
}

/// A child of this process, made by `fork`.
struct Child {
  let pid: pid_t

  /// Runs `body` in a child, which ends with it.
  init(_ body: () throws -> Void) {
    // Swift does not offer it, as threads do not live on; these programs have one.
    typealias Fork = @convention(c) () -> pid_t
    let fork = unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)
    let pid = fork()
    if pid == 0 {
      do {
        try body()
        _exit(0)
      } catch {
        FileHandle.standardError.write(Data("child: \(error)\n".utf8))
        _exit(99)
      }
    }
    self.pid = pid
  }

  /// Kills it at a random moment within so many microseconds, half of the times from when something is so.
  func kill(within most: UInt32, round: Int, once isSo: () -> Bool) {
    for _ in 0..<100_000 where round % 2 == 0 && !isSo() { usleep(500) }
    usleep(UInt32.random(in: 0...most))
    kill()
    require(wait() == -SIGKILL)
  }

  func kill() { _ = Glibc.kill(pid, SIGKILL) }

  /// Waits for its end: its exit code, or the signal that ended it as a negative number.
  func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
  }
}

/// Numbers that a process shares with its children.
final class SharedNumbers {
  private let memory: UnsafeMutablePointer<UInt64>

  init(count: Int) {
    let map = mmap(
      nil, count * 8, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
    memory = map!.bindMemory(to: UInt64.self, capacity: count)
  }

  subscript(index: Int) -> UInt64 {
    get { memory[index] }
    set { memory[index] = newValue }
  }
}

/// A number from the environment.
func setting(_ name: String, _ usual: Int) -> Int {
  ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? usual
}
