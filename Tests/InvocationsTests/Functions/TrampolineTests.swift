// SPDX-License-Identifier: Apache-2.0
import CForwardingFixtures
import CForwardingShims
import ForwardingTestSupport
import Foundation
import Invocations
import Testing

private typealias Number = @convention(c) () -> Int32

/// The lines of this process's memory map. The file reports no size, so it is read line by line.
private func memoryMap() -> [String] {
  guard let file = fopen("/proc/self/maps", "r") else { return [] }
  defer { fclose(file) }
  var lines: [String] = []
  var line: UnsafeMutablePointer<CChar>?
  var size = 0
  while getline(&line, &size, file) > 0, let line {
    lines.append(String(cString: line).trimmingCharacters(in: .newlines))
  }
  free(line)
  return lines
}

/// Whether a line is a page that is writable and executable, or executable without a file.
private func isSuspicious(_ line: String) -> Bool {
  let words = line.split(separator: " ", omittingEmptySubsequences: true)
  guard words.count > 1, words[1].contains("x") else { return false }
  if words[1].contains("w") { return true }
  return words.count < 6
    || !words[5].hasPrefix("/") && words[5] != "[vdso]" && words[5] != "[vsyscall]"
}

/// Callbacks that answer with their number, times a factor.
private func callbacks(_ count: Int32, times factor: Int32 = 1) throws -> [Callback] {
  try (0..<count).map { number in try Callback { () -> Int32 in number * factor } }
}

@Suite("Trampolines", .enabled(if: fwd_callback_code() == .trampolines, "no trampolines here"))
struct TrampolineTests {
  @Test("no page is both writable and executable, and every executable page belongs to a file")
  func memory() throws {
    let before = Set(memoryMap().filter(isSuspicious))
    let made = try callbacks(600)
    let code = UInt(bitPattern: made[599].address)
    let added = memoryMap().filter(isSuspicious).filter { !before.contains($0) }
    #expect(added.isEmpty, "\(added)")
    let own = memoryMap().first { line in
      let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
      return ends.count == 2 && (ends[0]..<ends[1]).contains(code)
    }
    #expect(try #require(own).contains(" r-xp "))
    #expect(own?.contains("/") == true)
    withExtendedLifetime(made) {}
  }

  @Test("thousands of callbacks exist at once, each with its own function; freed ones are reused")
  func thousands() throws {
    var made = try callbacks(3000)
    #expect(Set(made.map(\.address)).count == 3000)
    for (number, callback) in made.enumerated() {
      #expect(callback.pointer.function(as: Number.self)() == Int32(number))
    }
    made = []
    made = try callbacks(3000, times: -1)
    #expect(made[2999].pointer.function(as: Number.self)() == -2999)
  }

  @Test("the pages of freed callbacks are reused, and no more are mapped")
  func pages() async {
    // In a separate process, because concurrent tests map pages, too.
    await #expect(processExitsWith: .success) {
      func pages() -> Int { memoryMap().count { $0.contains(" r-xp ") } }
      let before = pages()
      var made = try callbacks(3000)
      // Some freed callbacks always wait, so the first round may map one more page.
      var mapped = 0
      for round in 0..<4 {
        made = []
        made = try callbacks(3000)
        if round == 0 { mapped = pages() }
      }
      withExtendedLifetime(made) {}
      guard mapped > before, pages() == mapped else { throw InvocationError.outOfMemory }
    }
  }

  @Test("trampolines work where no memory may become executable")
  func denied() async {
    await #expect(processExitsWith: .success) {
      // Older kernels do not support it, and then there is nothing to test.
      guard fixture_deny_write_execute() == 0 else {
        return print("skipped: this kernel cannot deny memory that may become executable")
      }
      let callback = try Callback { (value: Int32) -> Int32 in value * 2 }
      let call = callback.pointer.function(as: (@convention(c) (Int32) -> Int32).self)
      guard call(21) == 42, fwd_callback_code() == .trampolines else {
        throw InvocationError.outOfMemory
      }
    }
  }

  @Test("without a free file descriptor a callback is refused, until one is free again")
  func scarce() async {
    await #expect(processExitsWith: .success) {
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let next = dup(2)
      close(next)
      var none = rlimit(rlim_cur: rlim_t(next), rlim_max: limit.rlim_max)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
      let error = #expect(throws: InvocationError.self) { try Callback { () -> Int32 in 1 } }
      try #require(error == .callbackRefused(errno: EMFILE))
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      try #require(!memoryMap().contains { $0.contains("rwxp") })
      let callback = try Callback { () -> Int32 in 42 }
      try #require(callback.pointer.function(as: Number.self)() == 42)
      try #require(fwd_callback_code() == .trampolines)
    }
  }

  @Test(
    "a child process has its own callbacks: changes in the parent do not affect it",
    .enabled(
      if: fixture_is_thread_sanitized() == 0,
      "ThreadSanitizer cannot follow a fork of many threads"))
  func forked() throws {
    var first: Callback? = try Callback { () -> Int32 in 111 }
    let address = try #require(first).address
    var pipe: Int32 = -1
    let child = fixture_fork(address, &pipe)
    try #require(child > 0)
    first = nil
    // The place is free again here, and reused by other callbacks.
    let others = try (0..<300).map { _ in try Callback { () -> Int32 in 222 } }
    #expect(fixture_let_child_go(child, pipe) == 111)
    withExtendedLifetime(others) {}
  }
}
