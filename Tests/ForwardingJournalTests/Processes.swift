// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Glibc
import Synchronization

/// A system call of a process, at its entry and at its exit.
struct SystemCall {
  /// The name of a call that reads or changes files; "other" for the rest. Calls with the same
  /// effect share a name.
  let name: String
  /// The arguments.
  let arguments: [UInt64]
  /// The result; nil at the entry. A negative result is an error number.
  let result: Int64?
  private let process: pid_t

  fileprivate init(_ info: [UInt64], of process: pid_t, after entry: SystemCall?) {
    self.process = process
    if info[0] & 0xFF == 2, let entry {
      (name, arguments, result) = (entry.name, entry.arguments, Int64(bitPattern: info[3]))
    } else {
      (name, arguments) = (TestMachine.systemCalls[info[3]] ?? "other", Array(info[4..<10]))
      result = nil
    }
  }

  var changesFiles: Bool { !["other", "read", "facts", "list"].contains(name) }

  /// The inode number of the file whose descriptor is the first argument; 0 if there is none.
  var file: Int {
    var status = stat()
    let link = "/proc/\(process)/fd/\(Int32(truncatingIfNeeded: arguments[0]))"
    return stat(link, &status) == 0 ? Int(status.st_ino) : 0
  }

  /// The string that an argument points to.
  func text(_ argument: Int) -> String {
    let memory = open("/proc/\(process)/mem", O_RDONLY)
    defer { close(memory) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    // The page after the string may be unmapped, so a short read is fine.
    let count = pread(memory, &bytes, bytes.count, Int(truncatingIfNeeded: arguments[argument]))
    return String(decoding: bytes.prefix(max(0, count)).prefix { $0 != 0 }, as: UTF8.self)
  }

  /// What becomes of a traced child at a system call. At its entry, on x86-64, the call can fail
  /// without being made, and can get another third argument.
  enum Fate {
    case go, kill, fails(Int32), limit(to: Int)
    static let fail = fails(EIO)
  }

  /// Runs `body` in a child that stops at the entry and the exit of each system call.
  ///
  /// - Returns: its exit code, or the negated number of the signal that ended it.
  static func trace(
    _ body: () throws -> Void, at stop: (SystemCall) throws -> Fate
  ) throws -> Int32 {
    // Swift does not import the function, because it is variadic.
    typealias Trace = @convention(c) (Int, Int, Int, UnsafeMutableRawPointer?) -> Int
    let trace = unsafeBitCast(dlsym(nil, "ptrace"), to: Trace.self)
    let child = Child {
      require(trace(0, 0, 0, nil) == 0, "a child cannot be traced")
      raise(SIGSTOP)
      try body()
    }
    let pid = Int(child.pid)
    var (status, entry): (Int32, SystemCall?) = (0, nil)
    waitpid(child.pid, &status, 0)
    // System calls are distinguishable from signals, and the child ends with its parent.
    require(trace(0x4200, pid, 0, UnsafeMutableRawPointer(bitPattern: 0x10_0001)) == 0)
    // Places in the kernel's structure of registers.
    func set(_ register: Int, _ value: Int) {
      require(trace(6, pid, 8 * register, UnsafeMutableRawPointer(bitPattern: value)) == 0)
    }
    let (result, third, number) = (10, 12, 15)
    var (signal, failure) = (0, nil as Int32?)
    while true {
      _ = trace(24, pid, 0, UnsafeMutableRawPointer(bitPattern: signal))
      while waitpid(child.pid, &status, 0) < 0 {}
      if status & 0x7F == 0 { return (status >> 8) & 0xFF }
      if status & 0xFF != 0x7F { return -(status & 0x7F) }
      signal = Int(status >> 8)
      guard signal == Int(SIGTRAP | 0x80) else { continue }
      signal = 0
      var info = [UInt64](repeating: 0, count: 11)
      let size = info.count * 8
      let given = info.withUnsafeMutableBytes { trace(0x420E, pid, size, $0.baseAddress) }
      require(given > 0, "the system does not tell of calls")
      let call = SystemCall(info, of: child.pid, after: entry)
      entry = call.result == nil ? call : nil
      if let failure { set(result, -Int(failure)) }
      failure = nil
      switch try stop(call) {
      case .go: break
      case .kill: child.kill()
      case .fails(let code):
        set(number, -1)
        failure = code
      case .limit(let most):
        if let most = Int(exactly: call.arguments[2]).map({ min($0, most) }) { set(third, most) }
      }
    }
  }

  /// The names of the calls with which `body` changes files, in a child.
  static func changes(_ body: () throws -> Void) throws -> ArraySlice<String> {
    var calls: ArraySlice<String> = []
    let status = try trace(body) { call in
      if call.result == nil, call.changesFiles { calls.append(call.name) }
      return .go
    }
    require(status == 0, "\(status)")
    return calls
  }
}

/// Numbers that a process shares with its children and threads.
final class SharedNumbers {
  private let memory: UnsafeMutablePointer<Atomic<UInt64>>

  init(count: Int) {
    let map = mmap(
      nil, count * 8, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
    memory = map!.bindMemory(to: Atomic<UInt64>.self, capacity: count)
  }

  subscript(index: Int) -> UInt64 {
    get { memory[index].load(ordering: .sequentiallyConsistent) }
    set { memory[index].store(newValue, ordering: .sequentiallyConsistent) }
  }
}
