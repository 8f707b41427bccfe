// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import Foundation
import Testing
import TypeEncodings

/// The machine that the tests run on, and the differences that tests have to know.
///
/// This is the only place of the tests that asks which machine it is. A test of one machine's
/// registers or layouts computes them for that machine, and runs on every one; where that is not
/// possible, it has `.machine(…)`, its name says which machine it is about, and it has a twin.
package enum TestMachine {
  package static let own = Machine.own

  /// The value for the machine of this run.
  package static func value<Value>(x86_64: Value, aarch64: Value) -> Value {
    own == .x86_64Linux ? x86_64 : aarch64
  }

  /// The smallest stack that a thread may have: 16 KiB on x86-64, 128 KiB on AArch64.
  static let smallestStack = Int(sysconf(Int32(_SC_THREAD_STACK_MIN)))

  /// The bytes of a `long double` that carry its bits.
  package static let longDoubleBytes = value(x86_64: 10, aarch64: 16)

  /// 1.25 as a `long double` of C.
  package static let longDouble1_25: [UInt8] = value(
    x86_64: [0, 0, 0, 0, 0, 0, 0, 0xA0, 0xFF, 0x3F, 0, 0, 0, 0, 0, 0],
    aarch64: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0xFF, 0x3F])

  // MARK: The kernel

  /// Whether the kernel filters system calls. An emulator of programs does not.
  package static let hasSystemCallFilters = {
    // Swift does not import the function, because it is variadic. 21 asks for the mode of filters.
    typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
    return unsafeBitCast(dlsym(nil, "prctl"), to: Control.self)(21, 0, 0, 0, 0) >= 0
  }()

  /// Whether a process may have another user than the one that started it.
  package static let hasUsers = {
    let map = (try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8)) ?? ""
    return map.split { $0 == " " || $0 == "\n" }.last != "1"
  }()

  /// The emulator of this run, which the script that starts it names; nil on a real processor. It
  /// makes a program tens of times slower, so tests that measure time are skipped.
  package static let emulator = ProcessInfo.processInfo.environment["FORWARDING_EMULATOR"]

  /// The names of the system calls that tests observe, by their numbers.
  package static let systemCalls: [UInt64: String] = value(
    x86_64: [
      1: "write", 18: "write", 20: "write", 296: "write", 328: "write", 74: "fsync",
      75: "fdatasync", 77: "ftruncate", 257: "open", 73: "flock", 82: "rename", 264: "rename",
      316: "rename", 86: "link", 265: "link", 87: "unlink", 263: "unlink", 17: "read",
      332: "facts", 217: "list",
    ],
    aarch64: [
      64: "write", 66: "write", 68: "write", 70: "write", 287: "write", 82: "fsync",
      83: "fdatasync", 46: "ftruncate", 56: "open", 32: "flock", 38: "rename", 276: "rename",
      37: "link", 35: "unlink", 67: "read", 291: "facts", 61: "list",
    ])
}

/// A sanitizer that a test run may be built with. Its stack frames are larger than those of an
/// ordinary build.
public enum Sanitizer: String, Sendable {
  case address, thread

  /// The sanitizer of this test run.
  public static let current: Sanitizer? =
    if dlsym(nil, "__asan_init") != nil { .address } else if dlsym(nil, "__tsan_init") != nil {
      .thread
    } else { nil }

  /// The factor by which a test of deep recursion or small stacks must enlarge its stack.
  public static var stackFactor: Int { current == nil ? 1 : 4 }
}

extension Trait where Self == ConditionTrait {
  /// Runs a test on one machine alone.
  package static func machine(_ machine: Machine) -> Self {
    .enabled(if: TestMachine.own == machine, "it is about \(machine.rawValue)")
  }

  /// Skips a test in an emulator.
  package static func notEmulated(_ reason: String) -> Self {
    .enabled(if: TestMachine.emulator == nil, "in an emulator: \(reason)")
  }

  /// Skips tests that compare texts of this repository with each other.
  package static var readsTextsAlone: Self {
    notEmulated("it reads sources and pages, which are the same on each machine")
  }

  /// Skips a test where the kernel filters no system calls.
  package static var seccomp: Self {
    .enabled(if: TestMachine.hasSystemCallFilters, "no filters of system calls (seccomp) here")
  }

  /// Skips a test where the C library, or the allocator of a sanitizer, counts no memory.
  package static var countsMemory: Self {
    .enabled(
      if: fixture_allocated_bytes() >= 0 && Sanitizer.current == nil, "no memory is counted here")
  }

  /// Skips a test where a process has one user only.
  package static var users: Self {
    .enabled(if: TestMachine.hasUsers, "one user only in this namespace")
  }
}
