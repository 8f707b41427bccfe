// SPDX-License-Identifier: Apache-2.0
import ForwardingTestSupport
import Foundation
import Glibc

/// A system call of a process, at its entry and at its exit.
struct SystemCall {
  /// The name of a call with an effect on files; "other" for the rest. Calls with the same effect
  /// share a name.
  let name: String
  /// The arguments.
  let arguments: [UInt64]
  /// The result; nil at the entry. A negative result is an error number.
  let result: Int64?
  let number: UInt64
  private let process: pid_t

  fileprivate init(_ info: [UInt64], of process: pid_t, after entry: SystemCall?) {
    self.process = process
    if info[0] & 0xFF == 2, let entry {
      (name, arguments, result) = (entry.name, entry.arguments, Int64(bitPattern: info[3]))
      number = entry.number
    } else {
      number = info[3]
      (name, arguments) = (TestMachine.systemCalls[info[3]] ?? "other", Array(info[4..<10]))
      result = nil
    }
  }

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

  // Swift does not import these functions, because they are variadic.
  private typealias Trace = @convention(c) (Int, Int, Int, UnsafeMutableRawPointer?) -> Int
  private typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
  private static func function<Function>(_ name: String, as type: Function.Type) -> Function {
    unsafeBitCast(dlsym(nil, name), to: type)
  }

  /// What becomes of a traced child at a system call. At its entry, on x86-64, the call can fail with
  /// `EIO` without being made, and can get another third argument.
  enum Fate { case go, kill, fail, limit(to: Int) }

  /// Runs `body` in a child that stops at the entry and the exit of each system call.
  ///
  /// - Returns: its exit code, or the negated number of the signal that ended it.
  static func trace(
    _ body: () throws -> Void, at stop: (SystemCall) throws -> Fate
  ) throws -> Int32 {
    let trace = function("ptrace", as: Trace.self)
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
    var (signal, isFailing) = (0, false)
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
      if isFailing { set(result, -Int(EIO)) }
      isFailing = false
      switch try stop(call) {
      case .go: break
      case .kill: child.kill()
      case .fail:
        set(number, -1)
        isFailing = true
      case .limit(let most):
        if let most = Int(exactly: call.arguments[2]).map({ min($0, most) }) { set(third, most) }
      }
    }
  }

  /// Makes a system call fail with an error from now on, in this thread and the threads that it
  /// starts.
  static func refuse(_ number: UInt32, with error: Int32 = EIO) {
    let control = function("prctl", as: Control.self)
    // Load the number of the call; if it is `number`, return the error, otherwise allow the call.
    let filter: [UInt64] = [
      0x20, 0x15 | 1 << 24 | UInt64(number) << 32,
      0x06 | UInt64(0x5_0000 | UInt32(error)) << 32, 0x06 | 0x7FFF_0000 << 32,
    ]
    require(control(38, 1, 0, 0, 0) == 0, "no filter is allowed")
    filter.withUnsafeBufferPointer { filter in
      let program: [UInt] = [UInt(filter.count), UInt(bitPattern: filter.baseAddress)]
      let isSet = program.withUnsafeBufferPointer {
        control(22, 2, UInt(bitPattern: $0.baseAddress), 0, 0)
      }
      require(isSet == 0, "no filter is allowed")
    }
  }

  /// Limits the size of files of this process. A write that reaches the limit is first partial, and
  /// then refused.
  static func limitFiles(to size: Int?) {
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(1), &limit)
    limit.rlim_cur = size.map { rlim_t($0) } ?? limit.rlim_max
    setrlimit(__rlimit_resource_t(1), &limit)
  }
}
