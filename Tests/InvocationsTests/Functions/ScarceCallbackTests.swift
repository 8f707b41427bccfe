// SPDX-License-Identifier: Apache-2.0
import CForwardingShims
import Foundation
import Testing

@testable import Invocations

@Suite("Callbacks when the system is short of resources")
struct ScarceCallbackTests {
  /// Uses up all file descriptors, and returns the previous limit.
  @Sendable static func takeAllDescriptors() -> rlimit {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let next = dup(2)
    close(next)
    var none = rlimit(rlim_cur: rlim_t(next), rlim_max: limit.rlim_max)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
    return limit
  }

  @Test("without a free file descriptor a callback is refused, until one is free again")
  func descriptors() async {
    await #expect(processExitsWith: .success) {
      var limit = Self.takeAllDescriptors()
      let error = #expect(throws: InvocationError.self) { try Callback { () -> Int32 in 1 } }
      try #require(error == .callbackRefused(errno: EMFILE))
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
      try #require(!maps.contains("rwxp"))
      let callback = try Callback { () -> Int32 in 42 }
      try #require(try callback.function(as: (@convention(c) () -> Int32).self)() == 42)
      try #require(fwd_callback_code() == .trampolines)
    }
  }
}
