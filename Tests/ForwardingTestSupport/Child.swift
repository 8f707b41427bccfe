// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Testing

/// Ends the process with a line of text if a condition is false.
public func require(_ isSo: Bool, _ text: @autoclosure () -> String = "not so", line: Int = #line) {
  if isSo { return }
  FileHandle.standardError.write(Data("line \(line): \(text())\n".utf8))
  _exit(Int32(1 + line % 100))
}

/// A child of this process, made by `fork`.
public struct Child {
  public let pid: pid_t

  /// Runs `body` in a child, which ends after it.
  public init(_ body: () throws -> Void) {
    // Swift does not export `fork`, because the other threads do not exist in the child. These
    // programs have one thread.
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

  /// Kills the child at a random moment within `most` microseconds. In every second round, waits
  /// first until a condition is true.
  public func kill(within most: UInt32, round: Int, once isSo: () -> Bool) {
    for _ in 0..<100_000 where round % 2 == 0 && !isSo() { usleep(500) }
    usleep(UInt32.random(in: 0...most))
    kill()
    require(wait() == -SIGKILL)
  }

  public func kill() { _ = Foundation.kill(pid, SIGKILL) }

  /// Waits for the end of the child. Returns its exit code, or the signal that ended it as a
  /// negative number.
  public func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
  }
}

/// The lines of this package that a process printed to stderr.
package func printedLines(_ result: ExitTest.Result?) -> [String] {
  let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  return text.split(separator: "\n").map(String.init).filter { $0.hasPrefix("swift-forwarding:") }
}

/// The resident memory of a process at the moment, in kilobytes.
public func residentKilobytes(of process: Int32 = getpid()) -> Int {
  let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
  return line.flatMap { Int($0.split(separator: " ").dropLast().last ?? "") } ?? 0
}
